"""Holds the arm when the robot goes silent, or when we do."""

import threading
import time
from collections.abc import Callable

ROUND = 0.01
"""Seconds between two looks."""


class Watchdog:
    """A thread that looks on: whatever the control loop is doing, the arm is held."""

    def __init__(self, is_late: Callable[[], str], hold: Callable[[], None]) -> None:
        """`is_late` says what is wrong, or nothing; then `hold` is called, once until it is armed again."""
        self._is_late, self._hold = is_late, hold
        self._armed, self._over = False, threading.Event()
        self.tripped = ""
        """What was wrong; empty while all is well."""
        self._thread = threading.Thread(target=self._watch, daemon=True, name="watchdog")
        self._thread.start()

    def arm(self) -> None:
        """Begin to look."""
        self.tripped, self._armed = "", True

    def rest(self) -> None:
        """Stop looking, until armed again."""
        self._armed = False

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join(timeout=1.0)

    def _watch(self) -> None:
        while not self._over.is_set():
            time.sleep(ROUND)
            if self._armed and (wrong := self._is_late()):
                self.tripped, self._armed = wrong, False
                self._hold()
