"""Holds the robot when a stop is asked for, when the robot goes silent, or when we do."""

import threading
from collections.abc import Callable

from isthmus.hardware.stop import Stop

ROUND = 0.01
"""Seconds between two looks."""


class Watchdog:
    """A thread that looks on: whatever the control loop is doing, the robot is held.

    A stop is looked for always. Lateness is looked for while the watchdog is armed.
    """

    def __init__(
        self, is_late: Callable[[], str], hold: Callable[[], None], stop: Stop | None = None, *, repeats: int = 1
    ) -> None:
        """`is_late` says what is wrong, or nothing; then `hold` is called, once until it is armed again.

        With `repeats`, `hold` is called in so many rounds one after another: a message of it may get lost.
        """
        self._is_late, self._hold, self._stop = is_late, hold, stop
        self._repeats, self._left = repeats, 0
        self._stop_left = repeats  # counted apart: nothing that anybody else does takes these back
        self._armed, self._over = False, threading.Event()
        self.tripped = ""
        """What was wrong; empty while all is well."""
        self._thread = threading.Thread(target=self._watch, daemon=True, name="watchdog")
        self._thread.start()

    @property
    def thread(self) -> int:
        """The thread's number, by which the system knows it."""
        return self._thread.native_id or 0

    def arm(self) -> None:
        """Begin to look for lateness."""
        self._left = 0
        self.tripped, self._armed = "", True

    def rest(self) -> None:
        """Stop looking for lateness, until armed again."""
        self._armed = False

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join(timeout=1.0)

    def _watch(self) -> None:
        while not self._over.wait(ROUND):
            if self._stop is not None and self._stop.asked and self._stop_left:
                self._stop_left -= 1
                self.tripped, self._armed = self._stop.why, False
                self._try_to_hold()
            elif self._armed and (wrong := self._wrong()):
                self.tripped, self._armed = wrong, False
                self._left = self._repeats
            if self._left:
                self._left -= 1
                self._try_to_hold()

    def _wrong(self) -> str:
        try:
            return self._is_late()
        except Exception as error:  # a watchdog that dies of one guards nothing any more
            return f"the watchdog cannot tell how the robot is ({error!r})"

    def _try_to_hold(self) -> None:
        try:
            self._hold()
        except Exception as error:  # the next round tries again
            self.tripped = f"{self.tripped} (and a hold failed: {error!r})"
