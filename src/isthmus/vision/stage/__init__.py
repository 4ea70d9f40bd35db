"""One MuJoCo model of a scene with everything that a rendering may show, changed in place from image to image."""
