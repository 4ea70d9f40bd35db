"""Looks on while somebody else's code has the robot: it comes back in time, or the robot is held."""

import math
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from isthmus.hardware.stop import Stop
from isthmus.hardware.watchdog import Watchdog

Abandon = Callable[[str], None]
"""Ends the process for the reason given: the last resort against code that cannot be interrupted."""


def named(error: BaseException) -> str:
    """An exception in one line: its type, and the first line of what it says."""
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {first[:200]}" if first else type(error).__name__


class Oversight:
    """A watchdog over calls of a user's code, in the thread that made this.

    A call that is late has the robot held. One that does not return even then is interrupted, as by Ctrl-C; where that
    does not help either, the robot's `close` is called and the process is abandoned. `hold` and `close` are themselves
    the user's code, and are given `patience` seconds each in a thread of their own.
    """

    def __init__(self, stop: Stop, patience: float, abandon: Abandon | None = None) -> None:
        """Look on from now; there is nothing to hold or to close before `take_over`."""
        self._stop, self._patience, self._abandon = stop, patience, abandon
        self._hold: Callable[[], object] | None = None
        self._close: Callable[[], object] | None = None
        self._thread = threading.current_thread()
        self._what, self._deadline = "", math.inf
        self._inside, self._returned = False, threading.Event()
        self._holding, self._closing = threading.Lock(), threading.Lock()
        self._called, self._let_go, self._closed, self._stop_seen = "", False, False, False
        self.late = ""
        """What was late since the last `begin`; empty while all is well."""
        self.troubles: list[str] = []
        """What went wrong with holding and closing."""
        self._watchdog = Watchdog(self._wrong, self._act)
        self._watchdog.arm()

    def take_over(self, hold: Callable[[], object] | None, close: Callable[[], object]) -> None:
        """Hold and close the robot by these from now on."""
        self._hold, self._close = hold, close

    @property
    def holds(self) -> bool:
        """Whether there is something that holds the robot."""
        return self._hold is not None

    def begin(self) -> None:
        """Forget what was late, once a hold under way is over."""
        self._deadline = math.inf
        with self._holding:
            self.late = ""

    @contextmanager
    def call(self, what: str, seconds: float) -> Generator[None]:
        """The user's code runs in here, and is to return within so many seconds."""
        self._returned.clear()
        self._called, self._inside = what, True
        self.expect(f"{what} has not returned after {seconds:g} s", seconds)
        try:
            yield
        finally:
            self._deadline, self._inside = math.inf, False
            self._returned.set()

    def expect(self, what: str, seconds: float) -> None:
        """Something is due within so many seconds; otherwise the robot is held, and `late` says `what`."""
        self._what, self._deadline = what, time.monotonic() + seconds

    def hold(self) -> None:
        """Hold the robot, if it can be held. This returns whatever the user's code does."""
        if self._hold is not None:
            with self._holding:
                if not self._let_go:
                    self._bounded(self._hold, "hold()")

    def close(self, seconds: float) -> None:
        """Hold and close the robot, and stop looking on; only the first call does anything."""
        with self._closing:
            first, self._closed = not self._closed, True
        if not first:
            return
        self.begin()
        self.hold()
        self._release()
        try:
            with self.call("close()", seconds):
                if self._close is not None:
                    self._close()
        except (Exception, SystemExit) as error:
            self.troubles.append(f"its close() raised {named(error)}")
        finally:
            self._watchdog.close()

    def _wrong(self) -> str:
        """What the watchdog looks at, in its own thread."""
        if self._stop.asked and not self._stop_seen:
            return f"stopped ({self._stop.why})"
        return self._what if time.monotonic() > self._deadline else ""

    def _act(self) -> None:
        """What the watchdog does, in its own thread."""
        stopping, why = self._stop.asked and not self._stop_seen, self._watchdog.tripped
        self._deadline = math.inf
        if stopping:
            self._stop_seen = True
        else:
            self.late = why
        self.hold()
        if self._inside:
            self._wait_for_return(why, time_is_up=not (stopping or self.holds))
        elif stopping and not self._closed:
            self._interrupt()  # it computes something, which may take minutes, and nobody needs it now
        self._watchdog.arm()

    def _wait_for_return(self, why: str, *, time_is_up: bool) -> None:
        """Give a late call a little more time, interrupt it, and give up."""
        if not time_is_up and self._returned.wait(self._patience):
            return
        self._stop.ask(why)
        self._interrupt()
        if self._returned.wait(self._patience):
            return
        with self._closing:
            first, self._closed = not self._closed, True
        self._release()
        if first and self._close is not None:
            self._bounded(self._close, "close()")
        if self._abandon is not None and not self._returned.is_set():
            self._abandon("; ".join((why, f"{self._called} cannot be interrupted", *self.troubles)))

    def _release(self) -> None:
        """No hold begins from now on, and none is under way: what is being closed cannot be held."""
        with self._holding:
            self._let_go = True

    def _interrupt(self) -> None:
        """As Ctrl-C does: it also ends sleeping, and waiting for a socket or a lock."""
        if self._thread is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def _bounded(self, action: Callable[[], object], name: str) -> None:
        """Do it in a thread of its own, and wait for that only so long."""
        raised: list[str] = []

        def run() -> None:
            try:
                action()
            except BaseException as error:
                raised.append(f"its {name} raised {named(error)}")

        thread = threading.Thread(target=run, daemon=True, name=name)
        thread.start()
        thread.join(self._patience)
        if thread.is_alive():
            raised.append(f"its {name} has not returned after {self._patience:g} s")
        self.troubles += [trouble for trouble in raised if trouble not in self.troubles]
