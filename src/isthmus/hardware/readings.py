"""Tells readings of joint positions that can be true from those that cannot."""

import numpy as np

from isthmus.core import Float

MARGIN = 0.05
"""Share of a joint's range by which a reading may lie outside: joints overshoot, and encoders are offset a little."""
FASTER = 1.5
"""How many times its speed limit a joint may seem to move: it is pushed, and readings are quantised."""
SLACK = 0.01
"""Share of a joint's range that a reading may jump at once, whatever the time between two."""


class ReadingCheck:
    """Compares each reading of the joints with their ranges, and with the last one that could be true."""

    def __init__(self, low: Float, high: Float, speeds: Float) -> None:
        """Take the joints' ranges and speed limits, each (act,)."""
        width = high - low
        self._low, self._high = low - MARGIN * width, high + MARGIN * width
        self._fastest, self._slack = FASTER * speeds, SLACK * width
        self._positions: Float | None = None
        self._at = 0.0
        self.faults = 0
        """Readings that could not be true."""

    def fault(self, positions: Float, velocities: Float, at: float) -> str:
        """What is wrong with a reading (act,) that arrived `at` so many seconds; empty if it can be true."""
        why = self._implausible(positions, velocities, at)
        if why:
            self.faults += 1
        else:
            self._positions, self._at = positions, at
        return why

    def forget(self) -> None:
        """Take the next reading within the ranges as it is: the robot was away, or somebody moved it."""
        self._positions = None

    def _implausible(self, positions: Float, velocities: Float, at: float) -> str:
        if not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
            return "is not finite"
        outside = (positions < self._low) | (positions > self._high)
        if outside.any():
            joint = int(np.argmax(outside))
            return f"has joint {joint} at {positions[joint]:.4g}, outside its range"
        if self._positions is None:
            return ""
        jump = np.abs(positions - self._positions) - self._slack - self._fastest * max(at - self._at, 0.0)
        if (jump > 0).any():
            return f"has joint {int(np.argmax(jump))} further than it can have moved"
        return ""
