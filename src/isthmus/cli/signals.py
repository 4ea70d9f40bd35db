"""A process that has somebody's environment in its hands ends in order, whatever the environment's code does."""

import os
import sys
import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from isthmus.cli.output import stderr
from isthmus.cli.stop_signals import BAD_INPUT, exit_code, stop_signals
from isthmus.core import Problem
from isthmus.hardware import Stop

KEPT = "what was collected is kept, and the same command with --resume goes on"


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
