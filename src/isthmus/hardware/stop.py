"""A stop that anybody may ask for: a key, a topic, a signal, a watchdog."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

LOOK = 0.005
"""Seconds between two looks of whoever waits."""
KEPT = "what was collected is kept, and the same command with --resume goes on"
"""What every message says about a run that ends before its time."""
T = TypeVar("T")


class Stop:
    """Remembers that a stop was asked for, and why. It is never taken back.

    Asking is safe in any thread and in a signal handler: it takes no lock. A `threading.Event` would not do, because a
    handler that sets one while the interrupted code holds its lock never returns.
    """

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self._asked, self._why = False, ""

    def ask(self, why: str) -> None:
        """Stop; the first reason is kept."""
        if not self._asked:
            self._why = why
            self._asked = True

    @property
    def asked(self) -> bool:
        """Whether a stop was asked for."""
        return self._asked

    @property
    def why(self) -> str:
        """The reason; empty while nobody has asked."""
        return self._why

    def wait(self, seconds: float) -> bool:
        """Wait for so long, or until a stop is asked for; whether it was."""
        end = time.monotonic() + seconds
        while not self._asked and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK))
        return self._asked

    def during(self, work: Callable[[], T]) -> T | None:
        """Run `work`, which may block, in a thread of its own; None where a stop was asked for before it returned.

        The thread is left to itself then. What `work` raises is raised here.
        """
        returned: list[T] = []
        raised: list[BaseException] = []

        def run() -> None:
            try:
                returned.append(work())
            except BaseException as error:  # it is raised again in the thread that waits
                raised.append(error)

        worker = threading.Thread(target=run, daemon=True, name="work that a stop may leave behind")
        worker.start()
        while worker.is_alive() and not self._asked:
            worker.join(LOOK)
        if raised:
            raise raised[0]
        return returned[0] if returned else None
