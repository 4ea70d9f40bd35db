"""The emergency stop on the keyboard."""

import select
import sys
import termios
import threading
import tty
from collections.abc import Generator
from contextlib import contextmanager

from isthmus.hardware import Stop

KEYS = {" ", "q", "\x1b"}
"""Space, q, Escape."""
LOOK = 0.1
"""Seconds between two looks at whether it is over."""


@contextmanager
def stop_key(stop: threading.Event | Stop) -> Generator[None]:
    """Ask for `stop` when one of the keys is pressed; without a keyboard there is none to press."""
    if not sys.stdin.isatty():
        yield
        return
    over = threading.Event()
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    watcher = threading.Thread(target=_watch, args=(stop, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(timeout=1.0)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _watch(stop: threading.Event | Stop, over: threading.Event) -> None:
    while not over.is_set():
        ready, _, _ = select.select([sys.stdin], [], [], LOOK)
        if ready and sys.stdin.read(1) in KEYS:
            stop.ask("the stop key was pressed") if isinstance(stop, Stop) else stop.set()
