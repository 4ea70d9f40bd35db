"""How far a robot's clock is ahead of this machine's, from when readings were stamped and when they arrived."""

from collections import deque

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
