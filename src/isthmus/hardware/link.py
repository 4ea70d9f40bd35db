"""One robot at the other end of a driver: what of it is believed, and what it is sent."""

import threading
import time
from contextlib import suppress

from isthmus.core import Float, Lost, Problem
from isthmus.hardware.clock import Clock, WallClock
from isthmus.hardware.driver import Driver
from isthmus.hardware.guard import Unsafe
from isthmus.hardware.listener import Heard, Listener, Traffic
from isthmus.hardware.priority import serve_first
from isthmus.hardware.readings import ReadingCheck
from isthmus.hardware.stop import Stop

LISTEN = 0.05
"""Seconds after which whoever listens looks up."""
LAST_HOLDS = 3
"""How often a hold is sent when the robot is let go of."""


class Link:
    """Keeps the latest reading that can be true, and sends commands unless the robot is held."""

    def __init__(self, driver: Driver, stop: Stop | None = None, check: ReadingCheck | None = None) -> None:
        """Connect, and listen in a thread of its own; anybody may ask for the `stop`.

        With a `check`, readings that cannot be true are left out. Raises `Problem` where there is no robot, and `Lost`
        if a stop is asked for before it is connected.
        """
        self._driver, self._stop = driver, stop or Stop()
        clock = self._stop.during(lambda: driver.connect(self._stop))
        if clock is None:
            raise Lost(f"stopped ({self._stop.why}) before anything moved")
        self._clock: Clock = clock
        if not clock.waits:
            serve_first()  # of this thread, and of the one that listens
        self._wall = WallClock()
        self._listener = Listener(driver.joints, check, dated_by_us=not clock.waits)
        self._gate, self._open = threading.Lock(), threading.Lock()
        self._held, self._over = True, threading.Event()
        self._trouble = ""
        self._thread = threading.Thread(target=self._listen, name="robot", daemon=True)
        self._thread.start()

    @property
    def clock(self) -> Clock:
        """The robot's time."""
        return self._clock

    @property
    def simulated(self) -> bool:
        """Whether the robot has a clock of its own."""
        return self._clock.waits

    @property
    def traffic(self) -> Traffic:
        """What came over the wire."""
        return self._listener.traffic

    @property
    def stop(self) -> Stop:
        """The emergency stop."""
        return self._stop

    @property
    def ahead(self) -> float:
        """Seconds that the robot's clock is ahead of ours, as far as that is known."""
        return self._listener.offset.ahead or 0.0

    @property
    def fault(self) -> str:
        """What is wrong with the driver, the robot's clock, or the last readings, none of which was of use."""
        return self._trouble or self._listener.fault

    @property
    def connected(self) -> bool:
        """Whether somebody takes our commands."""
        return self._driver.ready

    @property
    def held(self) -> bool:
        """Whether nothing is sent to the robot: it received the hold, or was never released."""
        return self._held

    def meet(self, patience: float) -> bool:
        """Listen until the robot's clock is known, for `patience` seconds at most; whether it is.

        Raises `Problem` if it is too far from ours.
        """
        end = time.monotonic() + patience
        while not self.simulated and self._listener.offset.ahead is None:
            if time.monotonic() > end or self._stop.wait(0.01):
                return False
        if wrong := self._listener.offset.fault:
            self.close()
            raise Problem(wrong)
        return True

    def heard(self) -> Heard | None:
        """The latest news."""
        return self._listener.heard

    def send(self, command: Float, seconds: float) -> float:
        """Send a command (act,) that counts for so many seconds; returns the time from which it does.

        Raises `Unsafe` while the robot is held. A hold and a command cannot cross: whoever comes second finds out.
        """
        now = self._clock.now()
        with self._gate:
            if self._held or self._stop.asked:
                raise Unsafe("the arm is held")
            self._driver.command(command, seconds, now)
        return now

    def hold(self) -> None:
        """Have the robot stay where it is. Nothing is sent until it is released."""
        self._held = True
        mine = self._gate.acquire(timeout=0.02)  # a command that is being sent goes first; one that is stuck does not
        try:
            self._driver.hold()
        finally:
            if mine:
                self._gate.release()

    def release(self) -> None:
        """Let the robot be sent somewhere again; what the clocks have drifted apart by then is taken over."""
        self._listener.follow_clock()
        self._held = False

    def reconnect(self) -> None:
        """Connect anew with a robot that may have been restarted; where there is none, nothing changes."""
        with self._open, suppress(Problem):
            self._driver.connect(self._stop)
            self._listener.forget()

    def close(self) -> None:
        """Leave the robot holding, and hang up."""
        for _ in range(LAST_HOLDS):
            self.hold()
            time.sleep(0.02)  # a driver may send from another thread
        self._over.set()
        self._thread.join(1.0)
        self._driver.close()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                with self._open:
                    readings = self._driver.observe(LISTEN)
                arrived, self._trouble = self._wall.now(), ""
            except Problem as problem:
                self._trouble = str(problem)
                self._over.wait(LISTEN)
            except Exception as error:  # the watchdog holds the robot for it; listening goes on
                self._trouble = f"the driver cannot read the robot ({error!r})"
                self._over.wait(LISTEN)
            else:
                for reading in readings:
                    self._listener.take(reading, arrived)
