"""A stop that anybody may ask for: a key, a topic, a signal, a watchdog."""

import threading


class Stop:
    """Remembers that a stop was asked for, and why. It is never taken back.

    Asking is safe in a signal handler and in any thread. Whoever waits, waits on it.
    """

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self._asked = threading.Event()
        self._why = ""

    def ask(self, why: str) -> None:
        """Stop; the first reason is kept."""
        self._why = self._why or why
        self._asked.set()

    @property
    def asked(self) -> bool:
        """Whether a stop was asked for."""
        return self._asked.is_set()

    @property
    def why(self) -> str:
        """The reason; empty while nobody has asked."""
        return self._why

    def wait(self, seconds: float) -> bool:
        """Wait for so long, or until a stop is asked for; whether it was."""
        return self._asked.wait(seconds)
