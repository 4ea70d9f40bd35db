"""Pictures of cameras in use, made like those that a localiser was trained on."""

from dataclasses import replace

import cv2
import numpy as np

from isthmus.core import Problem
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image

SAME = 0.1
"""Share by which a focal length may differ from that in training before pictures are scaled."""
LARGEST = 3.0
"""How many times a picture may be enlarged for it."""


def conform(picture: Image, camera: Camera, trained: Camera, name: str = "the picture") -> tuple[Image, Camera]:
    """The picture, and its camera, at the size and about the field of view that the localiser was trained on."""
    height, width = picture.shape[:2]
    if (width, height) != (camera.width, camera.height):
        raise Problem(
            f"{name} has {width} x {height} pixels, and its camera {camera.width} x {camera.height}: give pictures of "
            "that size, or calibrate the camera at theirs with `isthmus vision calibrate`"
        )
    scale = trained.width / width
    if abs(np.log(camera.focal * scale / trained.focal)) > SAME:
        scale = trained.focal / camera.focal
    if scale > LARGEST:
        raise Problem(f"{name} is too coarse: it would have to be enlarged {scale:.1f} times to see the object in it")
    if scale == 1 and (width, height) == (trained.width, trained.height):
        return picture, camera
    shift = np.array([trained.width, trained.height]) / 2 - scale * np.array([width, height]) / 2
    if scale < 1:  # a plain warp would skip pixels
        small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        matrix = np.array([[1, 0, shift[0]], [0, 1, shift[1]]])
        out = cv2.warpAffine(small, matrix, (trained.width, trained.height))
    else:  # OpenCV's first pixel is at 0, ours at 0.5
        offset = shift + (scale - 1) / 2
        matrix = np.array([[scale, 0, offset[0]], [0, scale, offset[1]]])
        out = cv2.warpAffine(picture, matrix, (trained.width, trained.height))
    return np.asarray(out, np.uint8), replace(
        camera, focal=camera.focal * scale, width=trained.width, height=trained.height
    )
