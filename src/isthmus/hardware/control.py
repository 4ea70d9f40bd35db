"""Gives an arm its commands on time and within limits, and holds it whenever anything is wrong."""

import threading

import numpy as np

from isthmus.core import Float, Lost, Problem
from isthmus.hardware.approach import Approach
from isthmus.hardware.clock import WallClock
from isthmus.hardware.guard import Guard, SafetySettings, Unsafe
from isthmus.hardware.link import Link
from isthmus.hardware.listener import Heard
from isthmus.hardware.priority import serve_at_once
from isthmus.hardware.readings import FASTER, Following
from isthmus.hardware.real_robot import Wiring
from isthmus.hardware.stop import KEPT
from isthmus.hardware.watchdog import Watchdog

CLOSE = 0.15
"""Radians from the start within which an arm has arrived; the control loop is there for the rest."""
ATTEMPTS = 3
"""How often a move to a start is begun."""
AT_REST = 0.05
"""Share of its speed limit below which a joint is at rest."""
TAKE_UP = 0.3
"""Seconds in which an arm that was held is taken up. What its controller is after then is not known to the last bit:
it may have gone on for a little, or have taken over where the joints were."""
GATHER = 3.0
"""What a second of an error adds to it in a move by efforts, so that gravity does not leave the robot short."""
HOLDS = 5
"""How often a hold is sent, in as many rounds of the watchdog: one message may get lost."""
EARLY = 0.005
"""Seconds before a deadline at which the arm is looked at, in real time: what is seen is moved on to the deadline by
its own speed, and the command is ready when it is due."""


class ArmControl:
    """A beat on which commands are due. While they are, a watchdog holds the arm if anything is late or wrong."""

    def __init__(
        self,
        link: Link,
        wiring: Wiring,
        period: float,
        safety: SafetySettings,
    ) -> None:
        """Command the robot at the other end of `link`, which `wiring` describes."""
        limits, speeds = wiring.limits(period, safety), wiring.velocity
        self._link, self._wiring, self._speeds, self._period = link, wiring, speeds, period
        self._stale, self._overrun, self._patience = safety.stale, safety.overrun, safety.patience
        self._envelope, self._pushes = wiring.envelope(), wiring.commands == "effort"
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
        self.age = 0.0
        """Seconds from when the joints were measured last to when that command is due."""
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

    def rest(self) -> None:
        """Hold the robot: an episode has ended before its time, and nobody knows where the next begins."""
        self.end()
        self._link.hold()

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
            if self._envelope is not None:
                command = self._envelope.admit(command, self.positions, self.velocities)
            if not self._link.clock.waits:
                self._link.clock.wait_until(self.deadline, self._patience, self._link.stop)
            stamp = self._link.send(command, after)
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
        if not self._pushes and (wrong := self._following.fault(self._asked, heard.positions)):
            self._lose(f"{wrong}; the arm was held")
        self._look(heard)

    def go_to(self, start: Float) -> None:
        """Move to `start` (act,) and come to rest there, if need be in several attempts."""
        for attempt in range(ATTEMPTS):
            self._check_stop()
            if self._pushes:
                self._link.hold()  # an effort goes on until it is ended
            heard = self._at_rest() if self._link.held else self._news()
            try:
                if self._push(heard, start) if self._pushes else self._move(heard, start):
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

    def _push(self, heard: Heard, start: Float) -> bool:
        """Go to `start` by efforts, where gains for that are declared; else begin where the robot is at rest."""
        self.sent = np.zeros_like(heard.positions)
        if self._wiring.gains is None:
            self._link.release()
            return True
        stiffness, damping = self._wiring.gains
        self.begin()
        self._link.release()
        way, gathered = Approach(heard.positions, start, self._speeds, self._period), np.zeros_like(start)
        for number in range(way.steps):
            error = way.piece(number) - self.positions
            gathered = np.clip(gathered + GATHER * self._period * error, -CLOSE, CLOSE)
            self.send(self._moves, stiffness * (error + gathered) - damping * self.velocities)
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
        self.age = self.deadline - heard.stamp
        age = min(max(self.age, 0.0), self._stale)
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
