"""A process that has somebody's environment in its hands ends in order, whatever the environment's code does."""

import os
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType

from isthmus.cli.output import stderr
from isthmus.core import Problem
from isthmus.hardware import Stop
from isthmus.hardware.stop import KEPT

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
    watcher = threading.Thread(target=_watch_keys, args=(keyboard, stop, over), daemon=True, name="stop key")
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(timeout=1.0)
        with suppress(termios.error):  # of a terminal that is gone: what ended us is to be said, not this
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _watch_keys(keyboard: int, stop: Stop, over: threading.Event) -> None:
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


@contextmanager
def stopped_by_signals(stop: Stop) -> Generator[Callable[[str], None]]:
    """Have signals ask for `stop` in here; gives the last resort for code that cannot be interrupted.

    A signal is noticed within milliseconds even while the main thread is in compiled code that does not return.
    """
    terminal = _terminal()

    def abandon(why: str) -> None:
        _abandon(why, stop, terminal)

    if threading.current_thread() is not threading.main_thread():
        yield abandon
        return
    try:
        with stop_signals(stop):
            yield abandon
    except (KeyboardInterrupt, Problem) as error:
        if (code := exit_code(stop)) == BAD_INPUT:
            raise
        why = str(error) if isinstance(error, Problem) else f"stopped ({stop.why}); {KEPT}"
        stderr.print(f"isthmus: {why}", markup=False, style="red", soft_wrap=True)
        raise SystemExit(code) from None


def _abandon(why: str, stop: Stop, terminal: list[int | list[bytes | int]] | None) -> None:
    """End the process at once, since its main thread is stuck in somebody's code; files are whole at any time."""
    if terminal is not None:
        with suppress(termios.error, OSError, ValueError):
            termios.tcsetattr(sys.stdin, termios.TCSANOW, terminal)
    cursor = "\x1b[?25h" if stderr.is_terminal else ""
    with suppress(OSError):
        os.write(2, f"{cursor}\nisthmus: {why}, and cannot be interrupted; {KEPT}\n".encode())
    os._exit(exit_code(stop))


def _terminal() -> list[int | list[bytes | int]] | None:
    """How the terminal is set now, if there is one."""
    with suppress(termios.error, OSError, ValueError):
        return termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    return None
