"""Whose time it is: the wall's, or that of a simulated robot."""

import threading
import time
from collections import deque
from typing import Protocol

from isthmus.hardware.stop import Stop

ENOUGH, WINDOW = 20, 100
"""Readings from which the difference is first estimated, and from which it is estimated later on."""
SYNCHRONISED = 0.02
"""Seconds by which clocks may seem to differ and still be taken as one: a reading is on its way for some of it.

It is also how much the difference may change from one episode to the next, and how far a stamp may be in the future.
"""
APART = 0.1
"""Seconds that the two clocks may be apart.

Machines that synchronise are within some milliseconds of each other. A difference of a tenth of a second says that one
of them does not, and a daemon that begins to look after such a clock sets it in one go, in the middle of a run.
"""


class ClockOffset:
    """The difference of two clocks, by the readings that were on their way for the shortest time."""

    def __init__(self) -> None:
        """Nothing was heard yet."""
        self._differences: deque[float] = deque(maxlen=WINDOW)
        self._ahead: float | None = None

    @property
    def ahead(self) -> float | None:
        """Seconds that the robot's clock is ahead; None before enough was heard."""
        return self._ahead

    @property
    def fault(self) -> str:
        """What is wrong with the robot's clock; empty if it will do."""
        if self._ahead is None or abs(self._ahead) <= APART:
            return ""
        return (
            f"the robot's clock is {abs(self._ahead):.3g} s {'ahead of' if self._ahead > 0 else 'behind'} this "
            f"machine's, and may be {APART:g} s: synchronise both (chrony or ntp on each), and begin again"
        )

    def add(self, stamp: float, arrived: float) -> None:
        """Take a reading's stamp by the robot's clock, and when it arrived by ours."""
        self._differences.append(stamp - arrived)
        if self._ahead is None and len(self._differences) >= ENOUGH:
            self._ahead = self._estimate()

    def follow(self) -> None:
        """Take over what the clocks have drifted apart since; a jump is no drift, and is left to be noticed."""
        if self._ahead is not None and abs((now := self._estimate()) - self._ahead) < SYNCHRONISED:
            self._ahead = now

    def _estimate(self) -> float:
        """A stamp is at most as late as the reading arrived: the largest difference is the nearest to the clocks'."""
        nearest = max(self._differences)
        return 0.0 if -SYNCHRONISED <= nearest <= 0 else nearest


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
