"""Randomised renderings for vision against MuJoCo's renderer alone."""

import time
from importlib.util import find_spec

import numpy as np

from isthmus.bench.measure import Benchmark, middle
from isthmus.core import Problem

IMAGES = 40


def can_render() -> bool:
    """Whether what vision needs is installed, and this machine can draw off-screen."""
    if find_spec("cv2") is None:
        return False
    from isthmus.vision.renderer import open_context  # noqa: PLC0415 - its dependencies are an extra

    try:
        open_context(16, 16).free()
    except Problem:
        return False
    return True


def vision_render(repeats: int) -> Benchmark:
    """Images with labels: share of the time that goes into mjr_render and mjr_readPixels, at the same settings.

    The floor renders and reads the same pictures of the same scenes once more, with nothing else around it.
    """
    from isthmus.vision.randomise import Randomise  # noqa: PLC0415
    from isthmus.vision.renderer import Renderer  # noqa: PLC0415
    from isthmus.vision.samples import Frame, new_samples  # noqa: PLC0415
    from isthmus.vision.stage.scene import SceneFile, read_scene  # noqa: PLC0415

    frame = Frame()
    out, shares = new_samples(1, frame), list[float]()
    with Renderer(read_scene(SceneFile("table", "cube")), Randomise(), frame) as renderer:
        for repeat in range(repeats + 1):
            spent = np.zeros(2)
            for index in range(IMAGES):
                began = time.process_time()
                camera = renderer.sample(index, out[0]).camera
                middle_of = time.process_time()
                renderer.render_again(camera, out[0]["windows"])
                spent += middle_of - began, time.process_time() - middle_of
            if repeat:  # the first warms up
                shares.append(float(spent[1] / spent[0]))
    ratio, half_iqr = middle(shares)
    return Benchmark(
        "vision-render", ratio, half_iqr, "bare mjr_render of the same pictures", goal=0.7, better="higher"
    )
