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
AGAIN = 5.0
"""Seconds for which another signal does not interrupt what the first one began: holding and closing the robot."""


BAD_INPUT, SIGNALLED = 2, 128


class Interrupted(KeyboardInterrupt):
    """A signal that ends the program."""


def exit_code(stop: Stop) -> int:
    """What a stopped program ends with: what a shell has for the signal, or 2 where it was another stop."""
    return next((SIGNALLED + number for number, name in SIGNALS.items() if name == stop.why), BAD_INPUT)


@contextmanager
def stop_signals(stop: Stop) -> Generator[None]:
    """Ask for a stop on each of the signals, then raise `Interrupted` in the main thread.

    The kernel tells a thread of ours through a pipe, so that a stop does not have to wait for what the main thread
    computes. SIGHUP stays ignored where it is, as under `nohup`. The others do not: a shell has a script's background
    jobs ignore Ctrl-C, and whoever presses it wants the robot to stop. Only the main thread may call this.
    """
    last = -AGAIN

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal last
        stop.ask(SIGNALS[signal.Signals(number)])
        now = time.monotonic()
        if now - last >= AGAIN:
            last = now
            raise Interrupted(SIGNALS[signal.Signals(number)])

    ours, kernels = os.pipe()
    os.set_blocking(kernels, False)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if number != signal.SIGHUP or handler is not signal.SIG_IGN:
            signal.signal(number, interrupt)
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
