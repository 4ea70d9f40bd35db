"""Marks on pictures: where the object is, and where a localiser says that it is."""

import cv2
import numpy as np

from isthmus.core import Float
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image
from isthmus.vision.samples import Frame, Sample
from isthmus.vision.windows import in_crop

TRUE, SAID = (40, 220, 60), (255, 40, 160)


def mark_cross(picture: Image, pixel: Float, colour: tuple[int, int, int], radius: int = 6) -> Image:
    """A copy with a ring and a dot about a pixel, which may lie outside."""
    out = np.ascontiguousarray(picture).copy()
    if np.isfinite(pixel).all():
        x, y = (int(np.clip(one, -1000, 10_000)) for one in np.round(pixel))
        cv2.circle(out, (x, y), radius, colour, max(1, radius // 6), cv2.LINE_AA)
        cv2.circle(out, (x, y), 1, colour, -1)
    return out


def mark_yaw(picture: Image, camera: Camera, position: Float, yaw: float, length: float) -> Image:
    """A copy with a line from the object's middle in the direction of its yaw."""
    out = np.ascontiguousarray(picture).copy()
    tip = np.asarray(position) + length * np.array([np.cos(yaw), np.sin(yaw), 0.0])
    ends = camera.project(np.stack([position, tip]))
    if np.isfinite(ends).all():
        (a, b), (c, d) = (tuple(int(np.clip(one, -1000, 10_000)) for one in end) for end in ends)
        cv2.line(out, (a, b), (c, d), SAID, 2, cv2.LINE_AA)
    return out


def marked_sample(sample: Sample, frame: Frame) -> Image:
    """What a rendering shows to the networks: the whole picture at twice its size, and its crops below it."""
    zoom = 2
    whole = mark_cross(sample["coarse"].repeat(zoom, 0).repeat(zoom, 1), sample["pixel"] * zoom / frame.scale, TRUE, 14)
    edge = min(whole.shape[1] // max(1, frame.crops), zoom * frame.crop)
    below = np.zeros((edge, whole.shape[1], 3), np.uint8)
    for number, (crop, window) in enumerate(zip(sample["crops"], sample["windows"], strict=True)):
        larger = np.asarray(cv2.resize(crop, (edge, edge), interpolation=cv2.INTER_LINEAR), np.uint8)
        at = in_crop(sample["pixel"], window, edge)
        below[:, number * edge : (number + 1) * edge] = mark_cross(larger, at, TRUE, 8)
    return np.vstack([whole, below])


def grid(pictures: list[Image], columns: int) -> Image:
    """Pictures of one size side by side, row by row; the rest of the last row is black."""
    blank = np.zeros_like(pictures[0])
    rows = -(-len(pictures) // columns)
    filled = pictures + [blank] * (rows * columns - len(pictures))
    return np.vstack([np.hstack(filled[row * columns : (row + 1) * columns]) for row in range(rows)])


def png(picture: Image) -> bytes:
    """The picture as a PNG file."""
    return cv2.imencode(".png", picture[..., ::-1])[1].tobytes()


def jpeg(picture: Image, quality: int = 85) -> bytes:
    """The picture as a JPEG file."""
    return cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
