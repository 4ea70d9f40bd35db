"""What the arm controller is after: straight lines from point to point, as a Fetch's does with positions alone."""

import numpy as np

from isthmus.core import Float


class Path:
    """The wanted joint angles over time; the last point is held."""

    def __init__(self, at: Float) -> None:
        """Hold where the arm is (7,)."""
        self._points: list[tuple[float, Float]] = [(0.0, at.copy())]

    def follow(self, now: float, points: list[tuple[float, Float]]) -> None:
        """Leave the path for `points`, each the seconds from now and the angles (7,), in order."""
        at, _ = self.at(now)
        self._points = [(now, at), *((now + max(after, 1e-3), angles) for after, angles in points)]

    def hold(self, now: float) -> None:
        """Stay where the path is now."""
        at, _ = self.at(now)
        self._points = [(now, at)]

    def at(self, now: float) -> tuple[Float, Float]:
        """Angles and speeds wanted at that time, each (7,)."""
        while len(self._points) > 1 and self._points[1][0] <= now:
            self._points.pop(0)
        begin, start = self._points[0]
        if len(self._points) == 1:
            return start, np.zeros_like(start)
        end, goal = self._points[1]
        speed = (goal - start) / (end - begin)
        return start + speed * max(now - begin, 0.0), speed
