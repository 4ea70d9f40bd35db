"""What is known of a rendered image: its pictures and its labels, as one record that processes can share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.core import Float, check_range
from isthmus.vision.camera import Camera, heading
from isthmus.vision.randomise import MOST_DISTRACTORS
from isthmus.vision.stage.draw import Drawn
from isthmus.vision.stage.scene import Scene

Sample = Any
"""One record of `sample_type`: a NumPy structured scalar that can be written to."""
Samples = Any
"""A structured array (n,) of `sample_type`."""


@dataclass(frozen=True)
class Frame:
    """Sizes of the pictures that the network sees, in pixels."""

    full: tuple[int, int] = (640, 480)
    """Width and height of the camera's pictures."""
    coarse: tuple[int, int] = (240, 180)
    """Width and height of the whole picture at low resolution."""
    crop: int = 64
    """Edge of a crop, which shows not quite two diameters of the object."""
    crops: int = 4
    """Crops for each image in training."""

    def __post_init__(self) -> None:
        check_range("the crop's edge", self.crop, 16, 512)
        for size in (*self.full, *self.coarse):
            check_range("a picture's edge", size, 16, 4096)

    @property
    def scale(self) -> float:
        """Pixels of the full picture for one of the coarse picture."""
        return self.full[0] / self.coarse[0]


def sample_type(frame: Frame) -> np.dtype[Any]:
    """The record of one image."""
    (width, height), crop = frame.coarse, frame.crop
    return np.dtype(
        [
            ("coarse", np.uint8, (height, width, 3)),
            ("crops", np.uint8, (frame.crops, crop, crop, 3)),
            ("windows", np.float32, (frame.crops, 3)),  # of the crops in the full picture: corner and edge
            ("pixel", np.float32, (2,)),  # of the target in the full picture
            ("position", np.float32, (3,)),
            ("yaw", np.float32),  # in the world
            ("turn", np.float32),  # yaw from the direction in which the camera sees the target
            ("camera", np.float64, (8,)),  # position, quaternion, focal length
            ("distractors", np.float32, (MOST_DISTRACTORS, 3)),  # NaN where there is none
        ]
    )


def new_samples(count: int, frame: Frame) -> Samples:
    """Records for so many images."""
    return np.zeros(count, sample_type(frame))


def sample_of(drawn: Drawn, scene: Scene, windows: Float, out: Sample) -> None:
    """Write the labels of an image."""
    camera = drawn.camera
    out["windows"], out["pixel"], out["position"], out["yaw"] = windows, drawn.pixel, drawn.position, drawn.yaw
    out["turn"] = fold(drawn.yaw - heading(camera, drawn.position), scene.symmetry)
    out["camera"] = [*camera.position, *camera.quaternion, camera.focal]
    out["distractors"] = np.nan
    out["distractors"][: len(drawn.distractors)] = drawn.distractors


def camera_of(sample: Sample, frame: Frame) -> Camera:
    """The camera that an image was rendered with."""
    x, y, z, w, i, j, k, focal = (float(one) for one in sample["camera"])
    return Camera((x, y, z), (w, i, j, k), focal, *frame.full)


def fold(angle: float, symmetry: int) -> float:
    """The smallest angle that looks the same; 0 for a round object."""
    if symmetry == 0:
        return 0.0
    period = 2 * np.pi / symmetry
    return float((angle + period / 2) % period - period / 2)
