"""Whose time it is: the wall's, or that of a simulated robot."""

import threading
import time
from typing import Protocol

from isthmus.hardware.stop import Stop

SPIN = 0.0003
"""Seconds before a deadline from which on it is waited for without sleeping."""
NAP = 0.01
CLOSE = 0.0006
"""Seconds by which a reported time may be short of a deadline: it comes in milliseconds, and is rounded on its way."""


class Clock(Protocol):
    """Seconds that pass for the robot."""

    @property
    def waits(self) -> bool:
        """Whether time stands still for a command that is due."""
        ...

    def now(self) -> float:
        """The time."""
        ...

    def wait_until(self, deadline: float, patience: float, stop: Stop | None = None) -> bool:
        """Return at `deadline`; False when that has not come after `patience` seconds of wall time more than asked.

        It also returns False, at once, when a stop is asked for.
        """
        ...


class WallClock:
    """Real time, as precise as sleeping allows."""

    waits = False

    def __init__(self) -> None:
        """Take the system's time now: a clock that is made for a connection agrees with the system at that moment."""
        self._start = time.time() - time.perf_counter()

    def now(self) -> float:
        """Seconds since the epoch, that never go back: a step of the system's clock does not reach the control loop."""
        return self._start + time.perf_counter()

    def wait_until(self, deadline: float, patience: float, stop: Stop | None = None) -> bool:  # noqa: ARG002 - the wall's time always comes
        """Sleep, and be awake when it comes."""
        while (left := deadline - self.now()) > 0:
            if stop is not None and stop.asked:
                return False
            if left > SPIN:
                time.sleep(min(left - SPIN, NAP))
        return True


class TopicClock:
    """The time that a simulated robot publishes."""

    waits = True

    def __init__(self) -> None:
        """Begin before all time."""
        self._now = 0.0
        self._moved = threading.Condition()

    def set(self, now: float) -> None:
        """Tell the time; it never goes back, unless the robot began anew."""
        with self._moved:
            self._now = now
            self._moved.notify_all()

    def now(self) -> float:
        """The latest time that was reported."""
        return self._now

    def wait_until(self, deadline: float, patience: float, stop: Stop | None = None) -> bool:
        """Wait for a new time."""
        silent, last, deadline = 0.0, self._now, deadline - CLOSE
        with self._moved:
            while self._now < deadline and silent < patience and not (stop is not None and stop.asked):
                began = time.perf_counter()
                self._moved.wait(NAP)
                silent = silent + time.perf_counter() - began if self._now == last else 0.0
                last = self._now
            return self._now >= deadline
