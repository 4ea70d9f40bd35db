"""The way to where an episode begins."""

import math

import numpy as np

from isthmus.core import Float

GENTLE = 0.6
"""Share of its speed limit that the fastest joint comes to, in the middle of the way."""
SLOWEST = 0.6
"""Seconds that a move takes at least."""
SETTLE = 0.7
"""Seconds that the arm is given to come to rest at the end."""


class Approach:
    """Half a cosine from one place to another, then rest."""

    def __init__(self, here: Float, there: Float, speeds: Float, period: float) -> None:
        """Go from `here` to `there` (act,), in pieces of `period` seconds."""
        self._here, self._way, self._period = here, there - here, period
        # The slope of half a cosine is pi / 2 at its steepest.
        gentle = float((np.abs(self._way) / (GENTLE * speeds)).max()) * math.pi / 2
        self._moving = max(1, math.ceil(max(SLOWEST, gentle) / period - 1e-9))
        self.steps = self._moving + math.ceil(SETTLE / period - 1e-9)
        """Pieces of the whole way, the rest at its end included."""

    def piece(self, number: int) -> Float:
        """Where the joints are to be at the end of piece `number` (act,)."""
        done = min((number + 1) / self._moving, 1.0)
        return self._here + (1.0 - math.cos(math.pi * done)) / 2.0 * self._way
