"""Ctrl-C, a request to end, and a closed terminal as emergency stops."""

import os
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from isthmus.hardware import Stop

SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
AGAIN = 1.0
"""Seconds for which another signal does not interrupt what the first one began: leaving the arm as it should be."""


class Interrupted(KeyboardInterrupt):
    """A signal that ends the program."""

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(f"signal {number}")
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell has for a program that a signal ended."""
        return 128 + self.number


@contextmanager
def stop_signals(stop: Stop) -> Generator[None]:
    """Ask for a stop on each of the signals, then raise `Interrupted` in the main thread.

    The kernel tells a thread of ours through a pipe, so that a stop does not have to wait for what the main thread
    computes. Only the main thread may call this.
    """
    last = -AGAIN

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal last
        stop.ask(SIGNALS[signal.Signals(number)])
        now = time.monotonic()
        if now - last >= AGAIN:
            last = now
            raise Interrupted(number)

    ours, kernels = os.pipe()
    os.set_blocking(kernels, False)
    before = {number: signal.signal(number, interrupt) for number in SIGNALS}
    woken = signal.set_wakeup_fd(kernels, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(ours, stop), daemon=True, name="stop signals")
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(kernels)
        watcher.join(timeout=1.0)
        os.close(ours)


def _watch(pipe: int, stop: Stop) -> None:
    while numbers := os.read(pipe, 64):
        for number in numbers:
            if number in SIGNALS:
                stop.ask(SIGNALS[signal.Signals(number)])
