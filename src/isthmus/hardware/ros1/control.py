"""Gives an arm its commands on time and within limits, and holds it whenever anything is wrong."""

import math
import threading

import numpy as np

from isthmus.core import Float, Lost, Problem
from isthmus.hardware.clock import WallClock
from isthmus.hardware.guard import Guard, Limits, Unsafe
from isthmus.hardware.readings import FASTER, Following
from isthmus.hardware.ros1.arm_link import RosArmLink
from isthmus.hardware.ros1.listener import Heard
from isthmus.hardware.ros1.priority import serve_at_once
from isthmus.hardware.stop import KEPT
from isthmus.hardware.watchdog import Watchdog

GENTLE = 0.6
"""Share of its speed limit that the fastest joint comes to, in the middle of the way."""
SLOWEST = 0.6
"""Seconds that a move takes at least."""
SETTLE = 0.7
"""Seconds that the arm is given to come to rest at the end."""


class Approach:
    """Half a cosine from one place to another, then rest."""

    def __init__(self, here: Float, there: Float, speeds: Float, period: float) -> None:
        """Go from `here` to `there` (act,), in pieces of `period` seconds."""
        self._here, self._way, self._period = here, there - here, period
        # The slope of half a cosine is pi / 2 at its steepest.
        gentle = float((np.abs(self._way) / (GENTLE * speeds)).max()) * math.pi / 2
        self._moving = max(1, math.ceil(max(SLOWEST, gentle) / period - 1e-9))
        self.steps = self._moving + math.ceil(SETTLE / period - 1e-9)
        """Pieces of the whole way, the rest at its end included."""

    def piece(self, number: int) -> Float:
        """Where the joints are to be at the end of piece `number` (act,)."""
        done = min((number + 1) / self._moving, 1.0)
        return self._here + (1.0 - math.cos(math.pi * done)) / 2.0 * self._way


CLOSE = 0.15
"""Radians from the start within which an arm has arrived; the control loop is there for the rest."""
ATTEMPTS = 3
"""How often a move to a start is begun."""
AT_REST = 0.05
"""Share of its speed limit below which a joint is at rest."""
TAKE_UP = 0.3
"""Seconds in which an arm that was held is taken up. What its controller is after then is not known to the last bit:
it may have gone on for a little, or have taken over where the joints were."""
HOLDS = 5
"""How often a hold is sent, in as many rounds of the watchdog: one message may get lost."""
EARLY = 0.005
"""Seconds before a deadline at which the arm is looked at, in real time: what is seen is moved on to the deadline by
its own speed, and the command is ready when it is due."""


class ArmControl:
    """A beat on which commands are due. While they are, a watchdog holds the arm if anything is late or wrong."""

    def __init__(
        self,
        link: RosArmLink,
        limits: Limits,
        speeds: Float,
        period: float,
        *,
        stale: float,
        overrun: float,
        patience: float,
    ) -> None:
        """Command the arm at the other end of `link`, whose joints have the speed limits `speeds` (act,)."""
        self._link, self._speeds, self._period = link, speeds, period
        self._stale, self._overrun, self._patience = stale, overrun, patience
        self._moves = Guard(limits)  # of its own: what a policy commands is counted apart
        self._limits, self._asked = limits, np.zeros_like(speeds)
        self._following = Following(speeds * period, limits.names)
        self._early = 0.0 if link.clock.waits else EARLY
        self._due = False
        self.sent = np.zeros_like(speeds)
        """The last command (act,), as it was sent."""
        self.positions, self.velocities = np.zeros_like(speeds), np.zeros_like(speeds)
        """Where the joints are when the next command is due, and how fast, each (act,)."""
        self.deadline = 0.0
        """When the next command is due."""
        self._loop = threading.get_native_id()
        self._dog = Watchdog(self._is_late, self._stop_waiting, link.stop, repeats=HOLDS)
        if not link.clock.waits:
            serve_at_once(self._dog.thread, wanted=True, before=1)

    def begin(self) -> None:
        """Look at the arm, and let commands be due from now on: nothing else may keep us from giving them."""
        heard = self._news()
        self.deadline = self._link.clock.now() + self._early
        self._look(heard)
        self._loop = threading.get_native_id()
        if not self._link.clock.waits:
            serve_at_once(self._loop, wanted=True)
        self._following.begin()
        self._due = True
        self._dog.arm()

    def end(self) -> None:
        """No command is due until further notice."""
        self._due = False
        self._dog.rest()
        serve_at_once(self._loop, wanted=False)

    def close(self) -> None:
        """Leave the arm holding."""
        self.end()
        self._link.hold()
        self._dog.close()
        self._link.close()

    def send(self, guard: Guard, wanted: Float, seconds: float | None = None) -> float:
        """Send what `guard` admits of the command `wanted` (act,) when it is due; returns when that was.

        The arm is to be there after so many `seconds`, or a period.
        """
        self._check()
        after = seconds or self._period
        try:
            command = guard.admit(wanted, self.sent, self.positions)
            if not self._link.clock.waits:
                self._link.clock.wait_until(self.deadline, self._patience, self._link.stop)
            stamp = self._link.send([(after, command)])
        except Unsafe as fault:
            self._check()  # says why the arm is held, where it is
            self._lose(f"{fault}, and the arm was held")
            raise
        self.sent, self._asked = command, np.clip(wanted, self._limits.low, self._limits.high)
        # A simulated robot's clock waits for us at the end of a goal: there is no beat to be made up for.
        self.deadline = after + (stamp if self._link.clock.waits else self.deadline)
        return stamp

    def await_next(self) -> None:
        """Wait for the next command to be due, and look at the arm."""
        on_schedule = self._link.clock.wait_until(self.deadline - self._early, self._patience, self._link.stop)
        self._check()
        if not on_schedule:
            self._lose(f"the robot's clock has stood still for {self._patience:g} s")
        heard = self._news()
        # By what was asked for: what is sent stays near a reading, though that be stuck.
        if wrong := self._following.fault(self._asked, heard.positions):
            self._lose(f"{wrong}; the arm was held")
        self._look(heard)

    def go_to(self, start: Float) -> None:
        """Move to `start` (act,) and come to rest there, if need be in several attempts."""
        for attempt in range(ATTEMPTS):
            self._check_stop()
            heard = self._at_rest() if self._link.held else self._news()
            try:
                if self._move(heard, start):
                    return
            except Lost:
                if self._link.stop.asked or attempt == ATTEMPTS - 1:
                    raise
            finally:
                self.end()
        raise Problem(
            "the arm does not get to where an episode begins: see whether it is free to move, and switched on"
        )

    def _move(self, heard: Heard, start: Float) -> bool:
        """Go to `start` at a gentle speed; whether the arm is there then.

        The way there is sent piece by piece, as a swing is: when we end, however that is, so does the move.
        """
        held = self._link.held
        if held:
            self.sent = heard.positions
        self.begin()
        self._link.release()
        if held:
            self.send(self._moves, self.sent, TAKE_UP)
            self.await_next()
        way = Approach(self.sent, start, self._speeds, self._period)
        for number in range(way.steps):
            self.send(self._moves, way.piece(number))
            self.await_next()
        return bool((np.abs(self.positions - start) < CLOSE).all())

    def _at_rest(self) -> Heard:
        """What the arm says once it is at rest: one that was held a moment ago still has to stop."""
        patience = WallPatience(self._patience)
        while True:
            heard = self._news()
            if self._link.clock.waits or (np.abs(heard.velocities) < AT_REST * self._speeds).all():
                return heard
            self._check_stop()
            if not patience.wait():
                self._lose(f"the arm does not come to rest within {self._patience:g} s")

    def _look(self, heard: Heard) -> None:
        """Take over what was heard, moved on from when it was measured to when the next command is due."""
        age = min(max(self.deadline - heard.stamp, 0.0), self._stale)
        # A velocity that is wrong must not put the joint where it cannot be.
        fastest = FASTER * self._speeds
        self.positions = heard.positions + age * np.clip(heard.velocities, -fastest, fastest)
        self.velocities = heard.velocities

    def _news(self) -> Heard:
        """What the arm says, not older than it may be; a silent one is waited for, then looked for, then given up."""
        for attempt in range(2):
            if (heard := self._fresh()) is not None:
                return heard
            if self._due:
                self._check()
                break
            if attempt == 0:
                self._link.stop.during(self._link.reconnect)
        self._check_stop()
        self._lose(self._link.fault or self._silence())
        raise AssertionError

    def _fresh(self) -> Heard | None:
        """The latest news once it is fresh; None when it stays old for as long as we are patient."""
        hurried = self._due and not self._link.clock.waits
        wall = WallPatience(min(self._patience, 2 * self._stale + self._overrun) if hurried else self._patience)
        while True:
            heard = self._link.heard()
            if heard is not None and self._age(heard) <= self._stale and self._link.connected:
                return heard
            if self._link.stop.asked or (self._due and self._dog.tripped) or not wall.wait():
                return None

    def _age(self, heard: Heard) -> float:
        """The larger of the ages by the robot's stamp and by when it came: neither a clock nor a queue makes it new."""
        clock = self._link.clock
        by_stamp = clock.now() - heard.stamp
        return by_stamp if clock.waits else max(by_stamp, clock.now() - heard.arrived)

    def _silence(self) -> str:
        """Why nothing that the robot says is fresh."""
        heard = self._link.heard()
        if heard is not None and not self._link.connected:
            return "no arm controller takes commands"
        age = self._patience if heard is None or self._link.clock.waits else self._age(heard)
        return f"the robot has not been heard of for {age:.2g} s"

    def _is_late(self) -> str:
        """What the watchdog looks at, in a thread of its own."""
        if wrong := self._link.fault:
            return wrong
        heard = self._link.heard()
        if self._link.clock.waits:  # time stands still while we are slow: nobody can be late
            return ""
        if heard is None or self._age(heard) > self._stale + self._overrun:
            return "the robot has gone silent"
        if self._link.clock.now() > self.deadline + self._overrun:
            return f"no command came for {self._overrun + self._period:g} s"
        return ""

    def _stop_waiting(self) -> None:
        """What the watchdog does. A loop that gives no commands is computing something else, or stuck."""
        self._link.hold()
        serve_at_once(self._loop, wanted=False)

    def _check_stop(self) -> None:
        if self._link.stop.asked:
            self._lose(f"emergency stop ({self._link.stop.why}): the arm holds where it is")

    def _check(self) -> None:
        self._check_stop()
        if self._dog.tripped:
            self._lose(f"{self._dog.tripped}, and the arm was held")

    def _lose(self, why: str) -> None:
        self.end()
        self._link.hold()
        raise Lost(f"{why}; {KEPT}")


class WallPatience:
    """Waits a little at a time, and not for ever."""

    def __init__(self, seconds: float) -> None:
        """Have so much patience."""
        self._clock = WallClock()
        self._end = self._clock.now() + seconds

    def wait(self) -> bool:
        """Wait a millisecond; False when patience has run out."""
        now = self._clock.now()
        return now < self._end and self._clock.wait_until(now + 0.001, 0.0)
