"""A robot over ROS as a World: it keeps its rate, knows how old what it sees is, and records what was sent."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from isthmus.core import Bool, Float, Lost, Problem, Step, WorldSpec
from isthmus.hardware import Guard, Unsafe, Watchdog
from isthmus.hardware.clock import WallClock
from isthmus.ros.arm_link import ArmLink, Heard
from isthmus.ros.priority import serve_at_once

SETTLE = 0.7
"""Seconds that the arm is given to come to rest where an episode begins."""
SLOWEST = 0.6
"""Seconds that a move to a start takes at least."""
GENTLE = 0.5
"""Share of the speed limits at which the arm is moved to a start."""
CLOSE = 0.15
"""Radians from the start within which an arm has arrived; the control loop is there for the rest."""
EARLY = 0.005
"""Seconds before a deadline at which the arm is looked at, in real time: what is seen is moved on to the deadline by
its own speed, and the command is ready when it is due."""
Begin = Callable[[np.random.Generator], Float]
"""Draws the first observation (obs,) of an episode: where the joints are to be, and what is the task's own."""


@dataclass
class Pace:
    """How well the control loop keeps its time."""

    steps: int = 0
    lateness: list[float] = field(default_factory=list[float])
    """Seconds from each deadline to the command."""
    rate: float = 0.0
    """Control steps a second, by the last of them."""
    seconds: float = 0.0
    """Of robot time, moves to the start included."""
    lost: int = 0
    """Episodes that were cut short because the robot was silent, or we were late."""

    def within(self, bound: float) -> float:
        """Share of the commands that were no later than `bound` seconds."""
        return float(np.mean(np.array(self.lateness) <= bound)) if self.lateness else 1.0

    def to_json(self) -> dict[str, float]:
        """As plain data, in milliseconds."""
        late = 1e3 * np.array(self.lateness or [0.0])
        median, most = np.percentile(late, (50, 99))
        return {
            "steps": self.steps,
            "robot_seconds": round(self.seconds, 3),
            "lost": self.lost,
            "late_ms_median": float(median),
            "late_ms_99": float(most),
            "late_ms_worst": float(late.max()),
            "share_within_2_ms": self.within(0.002),
        }


class RosWorld:
    """A world of one arm. Joints are known by name, and by nothing else."""

    n = 1

    def __init__(
        self,
        link: ArmLink,
        spec: WorldSpec,
        guard: Guard,
        *,
        begin: Begin,
        go_on: Callable[[Float], Float],
        speeds: Float,
        stale: float,
        overrun: float,
        patience: float,
        watch: Callable[[Float], None] | None = None,
    ) -> None:
        """Command the arm at the other end of `link`.

        `go_on` moves on what in an observation (obs,) is the task's own; `watch` is shown every observation.
        """
        self._link, self._spec, self._guard = link, spec, guard
        self._begin, self._go_on, self._speeds = begin, go_on, speeds
        self._stale, self._overrun, self._patience = stale, overrun, patience
        self._watch = watch
        names = spec.observation_names
        self._positions = [names.index(joint) for joint in spec.action_names]
        self._velocities = [names.index(f"{joint} velocity") for joint in spec.action_names]
        self._observation = np.zeros(spec.observation_size)
        self._sent = np.zeros(spec.action_size)
        self._deadline, self._last = 0.0, 0.0
        self._ended = True
        self.pace = Pace()
        self._early = 0.0 if link.clock.waits else EARLY
        self._loop = threading.get_native_id()
        self._dog = Watchdog(self._is_late, self._stop_waiting)

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._spec

    @property
    def observations(self) -> Float:
        """What was seen last (1, obs)."""
        return self._observation[None].copy()

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Move the arm to where the next episode begins; returns what is seen there (1, obs)."""
        if which is not None and not which[0]:
            return self.observations
        self._end_beat()
        self._ended = True
        first = self._begin(rng)
        start = self._guard_range(first[self._positions])
        began = self._link.clock.now()
        for attempt in range(3):
            if self._move(start):
                break
            if attempt == 2:
                raise Problem(
                    "the arm does not get to where an episode begins: see whether it is free to move, and switched on"
                )
        self.pace.seconds += self._link.clock.now() - began
        self._sent, self._ended = start, False
        self._observation = first.copy()
        heard = self._news()
        self._deadline = self._link.clock.now() + self._early
        self._look(heard, self._deadline)
        self._begin_beat()
        return self.observations

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give a command (1, act), and look again one control period after the last look."""
        if commands.shape != (1, self._spec.action_size):
            raise ValueError(f"expected a command of shape (1, {self._spec.action_size}), got {commands.shape}")
        if self._ended or (which is not None and not which[0]):
            return Step(self.observations, self._sent[None].copy(), np.array([self._ended]))
        self._check()
        try:
            sent = self._guard.admit(commands[0], self._sent, self._observation[self._positions])
        except Unsafe as fault:
            self._lose(f"{fault}, and the arm was held")
            raise
        period = self._spec.control_period
        if not self._link.clock.waits:
            self._link.clock.wait_until(self._deadline, self._patience)
        stamp = self._link.send([(period, sent)])
        if self.pace.lateness and stamp > self._last:
            self.pace.rate = 1.0 / (stamp - self._last)
        self._last = stamp
        # Simulated time may have gone on by now, and fast: there, what counts is when the command was made.
        sent_at = stamp if self._link.clock.waits else self._link.clock.now()
        self.pace.lateness.append(sent_at - self._deadline)
        self._sent = sent
        # A simulated robot's clock waits for us at the end of a goal: there is no beat to be made up for.
        self._deadline = period + (stamp if self._link.clock.waits else self._deadline)
        if self._watch is not None:  # now, while there is nothing to do but wait
            self._watch(self._observation)
        in_time = self._link.clock.wait_until(self._deadline - self._early, self._patience)
        self._check()
        if not in_time:
            self._lose(f"the robot's clock has stood still for {self._patience:g} s")
        heard = self._news()
        self.pace.steps += 1
        self.pace.seconds += period
        self._observation = self._go_on(self._observation)
        self._look(heard, self._deadline)
        return Step(self.observations, sent[None].copy(), np.array([False]))

    def close(self) -> None:
        """Leave the arm holding."""
        self._end_beat()
        self._dog.close()
        self._link.close()

    def _begin_beat(self) -> None:
        """From now on commands are due: nothing else that runs here may keep us from giving them."""
        self._loop = threading.get_native_id()
        if not self._link.clock.waits:
            serve_at_once(self._loop, wanted=True)
        self._dog.arm()

    def _end_beat(self) -> None:
        self._dog.rest()
        serve_at_once(self._loop, wanted=False)

    def _stop_waiting(self) -> None:
        """What the watchdog does. A loop that gives no commands is computing something else, or stuck."""
        self._link.hold()
        serve_at_once(self._loop, wanted=False)

    def _guard_range(self, positions: Float) -> Float:
        return self._spec.clip(positions[None])[0]

    def _move(self, start: Float) -> bool:
        """Go to `start` at a gentle speed and come to rest; whether the arm is there then."""
        clock = self._link.clock
        here = self._news().positions
        takes = max(SLOWEST, float((np.abs(start - here) / (GENTLE * self._speeds)).max()))
        stamp = self._link.send([(takes, start), (takes + SETTLE, start)])
        clock.wait_until(stamp + takes + SETTLE, self._patience)
        self._check_stop()
        return bool((np.abs(self._news().positions - start) < CLOSE).all())

    def _look(self, heard: Heard, at: float) -> None:
        """Take over what was heard, moved on from when it was measured to the time `at` which it is to stand for."""
        age = min(max(at - heard.stamp, 0.0), self._stale)
        self._observation[self._positions] = heard.positions + age * heard.velocities
        self._observation[self._velocities] = heard.velocities

    def _news(self) -> Heard:
        """What the arm says, not older than it may be; a silent one is waited for, then looked for, then given up."""
        for attempt in range(2):
            if (heard := self._fresh()) is not None:
                return heard
            if not self._ended:
                break
            if attempt == 0:
                self._link.reconnect()
        self._check_stop()
        self._lose(f"the robot has not been heard of for {self._patience:g} s")
        raise AssertionError

    def _fresh(self) -> Heard | None:
        """The latest news once it is fresh; None when it stays old for as long as we are patient."""
        hurried = not self._ended and not self._link.clock.waits
        wall = WallPatience(min(self._patience, 2 * self._stale + self._overrun) if hurried else self._patience)
        while True:
            heard = self._link.heard()
            if heard is not None and self._age(heard) <= self._stale and self._link.connected:
                return heard
            if self._link.stopped or not wall.wait():
                return None

    def _age(self, heard: Heard) -> float:
        """By the robot's own stamps: machines on one ROS graph have their clocks synchronised."""
        return self._link.clock.now() - heard.stamp

    def _is_late(self) -> str:
        """What the watchdog looks at, in a thread of its own."""
        if self._link.stopped:
            return "emergency stop"
        heard = self._link.heard()
        if self._link.clock.waits:  # time stands still while we are slow: nobody can be late
            return ""
        if heard is None or self._age(heard) > self._stale + self._overrun:
            return "the robot has gone silent"
        if self._link.clock.now() > self._deadline + self._overrun:
            return f"no command came for {self._overrun + self._spec.control_period:g} s"
        return ""

    def _check_stop(self) -> None:
        if self._link.stopped:
            self._lose("emergency stop: the arm holds where it is")

    def _check(self) -> None:
        self._check_stop()
        if self._dog.tripped:
            self._lose(f"{self._dog.tripped}, and the arm was held")

    def _lose(self, why: str) -> None:
        self._end_beat()
        self._link.hold()
        self.pace.lost += not self._ended
        self._ended = True
        raise Lost(f"{why}; what was collected is kept, and the same command with --resume goes on")


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
