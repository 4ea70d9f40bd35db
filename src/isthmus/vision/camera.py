"""A calibrated camera: from points of the world to pixels, and from pixels along a ray to the table."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem, check_range
from isthmus.io import from_json, read_json, write_json

KIND = "camera"


@dataclass(frozen=True)
class Camera:
    """A pinhole camera whose pixels are square and whose lens does not distort.

    The camera looks along its own -z axis with x to the right and y up, as in MuJoCo. Pixel coordinates go from
    (0, 0), the upper left corner of the image, to (width, height). The centre of the first pixel is (0.5, 0.5).
    """

    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]
    """Rotation from the camera's frame to the world's: w, x, y, z."""
    focal: float
    """Focal length in pixels."""
    width: int
    height: int

    def __post_init__(self) -> None:
        check_range("the camera's focal length", self.focal, 1, 1e6)
        for name in ("width", "height"):
            check_range(f"the camera's {name}", getattr(self, name), 8, 20_000)
        for one in self.position:
            check_range("the camera's position", one, -1e6, 1e6)
        length = float(np.linalg.norm(self.quaternion))
        if not 0.5 < length < 2:
            raise Problem(f"a camera's quaternion has length 1, got {length:g}")

    @classmethod
    def from_fovy(cls, position: Float, quaternion: Float, fovy: float, size: tuple[int, int]) -> "Camera":
        """A camera of this vertical field of view in degrees and size (width, height) in pixels."""
        focal = size[1] / 2 / np.tan(np.deg2rad(fovy) / 2)
        x, y, z = (float(one) for one in position)
        w, i, j, k = (float(one) for one in quaternion)
        return cls((x, y, z), (w, i, j, k), float(focal), *size)

    @property
    def fovy(self) -> float:
        """Vertical field of view in degrees."""
        return float(np.rad2deg(2 * np.arctan(self.height / 2 / self.focal)))

    @cached_property
    def rotation(self) -> Float:
        """Columns are the camera's right, up and backward directions in the world (3, 3)."""
        w, x, y, z = np.asarray(self.quaternion) / np.linalg.norm(self.quaternion)
        columns = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        columns.flags.writeable = False
        return columns

    @property
    def centre(self) -> Float:
        """The pixel that the camera looks at (2,)."""
        return np.array([self.width / 2, self.height / 2])

    def resized(self, width: int, height: int) -> "Camera":
        """The same camera after its images are scaled to another size of the same shape."""
        if abs(width * self.height - height * self.width) > 0.02 * width * self.height:
            raise Problem(
                f"an image of {width} x {height} is no scaled one of {self.width} x {self.height}: "
                "calibrate the camera at the size that its images have"
            )
        return replace(self, focal=self.focal * height / self.height, width=width, height=height)

    def project(self, points: Float) -> Float:
        """Pixels (n, 2) of points (n, 3) of the world; NaN for those behind the camera."""
        local = (np.atleast_2d(points) - self.position) @ self.rotation  # (n, 3)
        depth = np.where(local[:, 2] < -1e-6, -local[:, 2], np.nan)
        return self.centre + self.focal * np.stack([local[:, 0], -local[:, 1]], axis=1) / depth[:, None]

    def rays(self, pixels: Float) -> Float:
        """Directions (n, 3) in the world, of length 1, that pixels (n, 2) look along."""
        across = (np.atleast_2d(pixels) - self.centre) / self.focal
        local = np.stack([across[:, 0], -across[:, 1], -np.ones(len(across))], axis=1)
        world = local @ self.rotation.T
        return world / np.linalg.norm(world, axis=1, keepdims=True)

    def to_plane(self, pixels: Float, height: float) -> Float:
        """Points (n, 3) of the plane z = `height` that pixels (n, 2) show; NaN where a ray does not meet it."""
        rays = self.rays(pixels)
        with np.errstate(divide="ignore", invalid="ignore"):
            length = (height - self.position[2]) / rays[:, 2]
        length = np.where(np.isfinite(length) & (length > 0), length, np.nan)
        return np.asarray(self.position) + length[:, None] * rays

    def save(self, path: Path) -> None:
        """Write the camera as JSON."""
        write_json(path, {"kind": KIND, **asdict(self)})

    @classmethod
    def load(cls, path: Path) -> "Camera":
        """The camera in a file that `save` wrote."""
        data = read_json(path)
        if data.pop("kind", None) != KIND:
            raise Problem(f"{path} is not the file of a camera: write one with `isthmus vision calibrate`")
        return from_json(cls, data, path, "the file of a camera")


def heading(camera: Camera, point: Float) -> float:
    """The yaw, about the world's z axis, of the direction in which the camera sees a point (3,)."""
    across = np.asarray(point)[:2] - np.asarray(camera.position)[:2]
    return float(np.arctan2(across[1], across[0]))
