"""Squares of a picture that the second stage looks at, not quite twice as wide as the object would be at their place.

All crops then show the object at one size, however far away it lies. So its size tells it from a smaller or larger
object of its shape, which it would not in crops of one width: a small one close by looks like a large one further away.
"""

import cv2
import numpy as np

from isthmus.core import Float
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image

COVERS = 1.75
"""Diameters of the object that a window is wide."""
RANGE = 2.5
"""A window is at most so many times as wide as the crop that is made of it, or as narrow."""


def windows_at(camera: Camera, middles: Float, height: float, radius: float, crop: int) -> Float:
    """Windows (n, 3) about pixels (n, 2): x and y of the upper left corner and the edge, all in whole pixels.

    The object's middle is at the `height`, and it fits into a circle of the `radius`. Where a pixel does not show that
    height, a window is as wide as a crop.
    """
    points = camera.to_plane(middles, height)
    depths = (np.asarray(camera.position) - points) @ camera.rotation[:, 2]
    edges = np.nan_to_num(COVERS * camera.focal * 2 * radius / depths, nan=crop)
    edges = np.round(np.clip(edges, crop / RANGE, crop * RANGE))
    return np.column_stack([np.round(middles - edges[:, None] / 2), edges])


def cut(picture: Image, window: Float) -> Image:
    """The window (3,) of a picture; black beyond the picture."""
    x, y, edge = (int(one) for one in window)
    out = np.zeros((edge, edge, 3), np.uint8)
    part = picture[max(0, y) : max(0, y + edge), max(0, x) : max(0, x + edge)]
    top, left = max(0, -y), max(0, -x)
    out[top : top + part.shape[0], left : left + part.shape[1]] = part
    return out


def to_crop(image: Image, crop: int) -> Image:
    """The picture of a window at the size of a crop."""
    if len(image) == crop:
        return image
    way = cv2.INTER_AREA if len(image) > crop else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (crop, crop), interpolation=way), np.uint8)


def in_crop(pixels: Float, windows: Float, crop: int) -> Float:
    """Where pixels (..., 2) are in the crops of windows (..., 3)."""
    return (pixels - windows[..., :2]) * (crop / windows[..., 2:])
