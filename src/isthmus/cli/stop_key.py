"""The emergency stop on the keyboard."""

import os
import select
import sys
import termios
import threading
import tty
from collections.abc import Generator
from contextlib import contextmanager, suppress

from isthmus.hardware import Stop

KEYS = b" q\x1b"
"""Space, q, Escape."""
LOOK = 0.1
"""Seconds between two looks at whether it is over."""
NO_KEYBOARD = "there is no keyboard (standard input is not a terminal), so no key stops the arm"


def has_keyboard() -> bool:
    """Whether there is a keyboard to stop the arm with."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


@contextmanager
def stop_key(stop: Stop) -> Generator[None]:
    """Ask for a stop when one of the keys is pressed; without a keyboard there is none to press."""
    if not has_keyboard():
        yield
        return
    keyboard, over = sys.stdin.fileno(), threading.Event()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    watcher = threading.Thread(target=_watch, args=(keyboard, stop, over), daemon=True, name="stop key")
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(timeout=1.0)
        with suppress(termios.error):  # of a terminal that is gone: what ended us is to be said, not this
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _watch(keyboard: int, stop: Stop, over: threading.Event) -> None:
    while not over.is_set():
        ready, _, _ = select.select([keyboard], [], [], LOOK)
        if not ready:
            continue
        try:
            pressed = os.read(keyboard, 64)  # past Python's buffer, in which a second key would be left unseen
        except OSError:
            pressed = b""
        if not pressed:
            stop.ask("keyboard gone")
            return
        if any(key in KEYS for key in pressed):
            stop.ask("stop key")
