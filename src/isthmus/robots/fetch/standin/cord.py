"""The cord's hysteresis: it pulls harder while it is being stretched than while it gives way."""

from isthmus.robots.fetch.standin.parameters import Parameters


class Hysteresis:
    """A force that turns round as the cord does (Dahl's model), beside its elastic pull."""

    def __init__(self, parameters: Parameters) -> None:
        """Begin relaxed."""
        self._most, self._travel = parameters.cord_hysteresis, parameters.cord_travel
        self._rest = parameters.cord_rest
        self._force, self._length = 0.0, 0.0

    def pull(self, length: float) -> float:
        """The pull in N at this length in m; none while the cord is slack."""
        moved, self._length = length - self._length, length
        if length <= self._rest:
            self._force = 0.0
            return 0.0
        against = self._force / self._most * (1.0 if moved > 0 else -1.0) if self._most else 0.0
        self._force += self._most * moved / self._travel * (1.0 - against)
        self._force = min(max(self._force, -self._most), self._most)
        # A cord cannot push: what it gives way by is never more than what it pulls with.
        return max(self._force, -self._most * (length - self._rest) / self._travel)
