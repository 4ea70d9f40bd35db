"""A process that has a robot in its hands ends in order: on Ctrl-C, when it is terminated, when its terminal goes."""

import os
import signal
import socket
import sys
import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType

from isthmus.cli.output import stderr
from isthmus.core import Problem
from isthmus.hardware import Stop

BAD_INPUT, SIGNALLED = 2, 128
REASONS = {
    signal.SIGINT: "stopped by Ctrl-C",
    signal.SIGTERM: "stopped by SIGTERM",
    signal.SIGHUP: "stopped by SIGHUP: its terminal has gone",
}
KEPT = "what was collected is kept, and the same command with --resume goes on"


class Signals:
    """Asks for a stop when a signal comes, and knows how the process is to end then."""

    def __init__(self, stop: Stop) -> None:
        """Ask for this stop."""
        self._stop = stop
        self._received: list[int] = []
        self._raised = False
        self._terminal = _terminal()

    @property
    def code(self) -> int:
        """What the process exits with when it is stopped."""
        return SIGNALLED + self._received[0] if self._received else BAD_INPUT

    @property
    def received(self) -> bool:
        """Whether a signal is the reason for the stop."""
        return bool(self._received)

    def note(self, number: int) -> None:
        """A signal came; in any thread."""
        if not self._stop.asked:
            self._received.append(number)
            self._stop.ask(REASONS[signal.Signals(number)])

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """End what the main thread is doing; a second signal does not disturb the holding and closing that follow."""
        self.note(number)
        if not self._raised:
            self._raised = True
            raise KeyboardInterrupt

    def abandon(self, why: str) -> None:
        """End the process at once, since its main thread is stuck in somebody's code; files are whole at any time."""
        if self._terminal is not None:
            with suppress(termios.error, OSError, ValueError):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, self._terminal)
        shown = "\x1b[?25h" if stderr.is_terminal else ""
        with suppress(OSError):
            os.write(2, f"{shown}\nisthmus: {why}; {KEPT}\n".encode())
        os._exit(self.code)


@contextmanager
def stopped_by_signals(stop: Stop) -> Generator[Callable[[str], None]]:
    """Have signals ask for `stop` in here; gives the last resort for code that cannot be interrupted.

    A signal is noticed within milliseconds even while the main thread is in compiled code that does not return.
    """
    signals = Signals(stop)
    if threading.current_thread() is not threading.main_thread():
        yield signals.abandon
        return
    before = {number: signal.getsignal(number) for number in REASONS}
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    woken = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=_listen, args=(ours, signals), daemon=True, name="signals")
    listener.start()
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, signals.handle)
    try:
        yield signals.abandon
    except (KeyboardInterrupt, Problem) as error:
        if not signals.received:
            raise
        why = str(error) or f"{stop.why}; {KEPT}"
        stderr.print(f"isthmus: {why}", markup=False, style="red", soft_wrap=True)
        raise SystemExit(signals.code) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken)
        theirs.close()
        listener.join(timeout=1.0)
        ours.close()


def _listen(signals_from: socket.socket, signals: Signals) -> None:
    while numbers := signals_from.recv(64):
        for number in numbers:
            if number in REASONS:
                signals.note(number)


def _terminal() -> list[int | list[bytes | int]] | None:
    """How the terminal is set now, if there is one."""
    with suppress(termios.error, OSError, ValueError):
        return termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    return None
