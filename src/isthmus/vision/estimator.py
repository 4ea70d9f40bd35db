"""A localiser as an Estimator: a task whose object is seen by a camera runs with the camera in the loop."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from isthmus.core import Float, Rows
from isthmus.vision.camera import Camera
from isthmus.vision.localiser.locate import Localiser
from isthmus.vision.pixels import Image

TakePicture = Callable[[int, Float], tuple[Image, Camera]]
"""The newest picture of one robot's camera, and that camera. It is told what the robot's sensors show (sensors,): in
simulation that says where the object is to be drawn, and a real camera has no use for it."""


@dataclass
class CameraEstimator:
    """Replaces the object's position in what the sensors show by where the camera sees it.

    Where the localiser is not sure, the last position that it was sure of stays. Before there is one, the place that it
    is least unsure of is used.
    """

    localiser: Localiser
    take_picture: TakePicture
    columns: tuple[int, int, int]
    """Columns of the observation that are the object's x, y and z."""
    every: int = 1
    """Control periods from one picture to the next."""
    _last: dict[int, Float] = field(default_factory=dict[int, Float])
    _sure: dict[int, bool] = field(default_factory=dict[int, bool])
    _age: dict[int, int] = field(default_factory=dict[int, int])

    def begin(self, sensed: Float, rows: Rows) -> Float:
        """Start a new episode in the robots `rows`, whose sensors show `sensed` (m, sensors)."""
        for row in _numbers(rows, len(sensed)):
            for memory in (self._last, self._sure, self._age):
                memory.pop(row, None)
        return self._observed(sensed, rows)

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:  # noqa: ARG002 - what moves an object is seen
        """Observations (m, obs) of `rows`."""
        return self._observed(sensed, rows)

    def _observed(self, sensed: Float, rows: Rows) -> Float:
        observed = np.array(sensed, float)
        for one, row in enumerate(_numbers(rows, len(sensed))):
            observed[one, list(self.columns)] = self._position(row, sensed[one])
        return observed

    def _position(self, row: int, sensed: Float) -> Float:
        age = self._age.get(row, self.every)
        if age < self.every:
            self._age[row] = age + 1
            return self._last[row]
        self._age[row] = 1
        located = self.localiser.locate(*self.take_picture(row, sensed))
        usable = bool(np.isfinite(located.position).all())
        if row not in self._last or (usable and (located.sure or not self._sure.get(row, False))):
            camera_sees_it = located.position if usable else np.array([0.0, 0.0, self.localiser.facts.height])
            self._last[row], self._sure[row] = camera_sees_it, located.sure
        return self._last[row]


def _numbers(rows: Rows, count: int) -> list[int]:
    """Which robots `rows` are, of which there are `count`."""
    if isinstance(rows, slice):
        first, step = rows.start or 0, rows.step or 1
        return [first + step * one for one in range(count)]
    return [int(one) for one in np.flatnonzero(rows)]
