"""Keeps efforts from driving a joint out of its range, or beyond its speed."""

import numpy as np

from isthmus.core import Float
from isthmus.hardware.guard import Unsafe
from isthmus.hardware.readings import FASTER

AHEAD = 0.1
"""Seconds that a joint is looked ahead, at the speed it has."""


class Envelope:
    """Admits of an effort the part that does not push a joint where it must not go.

    A positive effort must accelerate its joint towards larger positions.
    """

    def __init__(self, low: Float, high: Float, speeds: Float, names: tuple[str, ...]) -> None:
        """Take the joints' ranges and speed limits (act,), and what messages call the joints."""
        self._low, self._high, self._speeds, self._names = low, high, speeds, names

    def admit(self, effort: Float, positions: Float, velocities: Float) -> Float:
        """The effort (act,) without what pushes a joint out of its range soon, or beyond its speed limit.

        Raises `Unsafe` for a joint that is outside its range, or much faster than its limit: it has to be held.
        """
        self._refuse(positions, velocities)
        soon = positions + AHEAD * velocities
        up = (soon > self._high) | (velocities > self._speeds)
        down = (soon < self._low) | (velocities < -self._speeds)
        return np.where(up, np.minimum(effort, 0.0), np.where(down, np.maximum(effort, 0.0), effort))

    def _refuse(self, positions: Float, velocities: Float) -> None:
        outside = np.maximum(self._low - positions, positions - self._high)
        if (outside > 0).any():
            joint = int(np.argmax(outside))
            raise Unsafe(
                f"{self._names[joint]} is at {positions[joint]:.4g}, outside its range of "
                f"{self._low[joint]:.4g} to {self._high[joint]:.4g}"
            )
        fast = np.abs(velocities) - FASTER * self._speeds
        if (fast > 0).any():
            joint = int(np.argmax(fast))
            raise Unsafe(
                f"{self._names[joint]} moves at {velocities[joint]:.4g}, above {FASTER:g} times its limit of "
                f"{self._speeds[joint]:.4g}"
            )
