"""A robot as a World: it keeps its rate, knows how old what it sees is, and records what was sent."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from isthmus.core import Bool, Estimator, Float, Lost, Step, WorldSpec
from isthmus.hardware.control import ArmControl
from isthmus.hardware.guard import Guard, SafetySettings
from isthmus.hardware.link import Link
from isthmus.hardware.one_robot import OneRobot
from isthmus.hardware.real_robot import Wiring


@dataclass
class Pace:
    """How well the control loop keeps its time."""

    steps: int = 0
    lateness: list[float] = field(default_factory=list[float])
    """Seconds from each deadline to the command."""
    ages: list[float] = field(default_factory=list[float])
    """Seconds from each measurement to the deadline it is used for, by the robot's time."""
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
            "reading_age_ms_median": 1e3 * float(np.median(self.ages or [0.0])),
        }


Begin = Callable[[np.random.Generator], Float]
"""Draws the first observation (obs,) of an episode: where the joints are to be, and what is the task's own."""


class RobotWorld(OneRobot):
    """A world of one arm. Joints are known by name, and by nothing else."""

    def __init__(
        self,
        link: Link,
        spec: WorldSpec,
        wiring: Wiring,
        safety: SafetySettings,
        *,
        begin: Begin,
        go_on: Callable[[Float], Float] | None = None,
        over: Callable[[Float], bool] | None = None,
        watch: Callable[[Float], None] | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        """Command the robot at the other end of `link`, which `wiring` describes.

        `go_on` moves on what in an observation (obs,) is the task's own; `over` says whether
        an episode ends there; `watch` is shown what the sensors show. An `estimator` makes observations of it.
        """
        super().__init__(spec, estimator)
        self._link, self._wiring = link, wiring
        self.guard = Guard(wiring.limits(spec.control_period, safety))
        self._begin, self._go_on, self._over, self._watch = begin, go_on, over, watch
        self._control = ArmControl(link, wiring, spec.control_period, safety)
        self._last, self._ended = 0.0, True
        self.pace = Pace()

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Move the arm to where the next episode begins; returns what is seen there (1, obs)."""
        if which is not None and not which[0]:
            return self.observations
        control, clock = self._control, self._link.clock
        control.end()
        self._ended = True
        first = self._begin(rng)
        began = clock.now()
        control.go_to(self._reachable(first[self._wiring.positions]))
        self.pace.seconds += clock.now() - began
        control.begin()
        self._ended = False
        self._observation = first.copy()
        self._look(None)
        return self.observations

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give a command (1, act), and look again one control period after the last look."""
        if commands.shape != (1, self._spec.action_size):
            raise ValueError(f"expected a command of shape (1, {self._spec.action_size}), got {commands.shape}")
        if self._ended or (which is not None and not which[0]):
            return Step(self.observations, self._applied(), np.array([self._ended]))
        try:
            self._step(commands)
        except Lost:
            self.pace.lost += 1
            self._ended = True
            raise
        if self._over is not None and self._over(self._observation):
            self._control.rest()
            self._ended = True
        return Step(self.observations, self._applied(), np.array([self._ended]))

    def close(self) -> None:
        """Leave the arm holding."""
        self._control.close()

    def _step(self, commands: Float) -> None:
        control, clock = self._control, self._link.clock
        due = control.deadline
        self.pace.ages.append(control.age)
        stamp = control.send(self.guard, self._wiring.sent(commands[0]))
        if self.pace.lateness and stamp > self._last:
            self.pace.rate = 1.0 / (stamp - self._last)
        self._last = stamp
        # Simulated time may have gone on by now, and fast: there, what counts is when the command was made.
        self.pace.lateness.append((stamp if clock.waits else clock.now()) - due)
        if self._watch is not None:  # now, while there is nothing to do but wait
            self._watch(self._observation)
        control.await_next()
        self.pace.steps += 1
        self.pace.seconds += self._spec.control_period
        if self._go_on is not None:
            self._observation = self._go_on(self._observation)
        self._look(self._applied()[0])

    def _reachable(self, positions: Float) -> Float:
        """The nearest positions (act,) to which the joints may be sent."""
        wiring = self._wiring
        low, high = wiring.position_low, wiring.position_high
        if wiring.commands == "position":
            low, high = np.maximum(low, wiring.low), np.minimum(high, wiring.high)
        return np.clip(positions, low, high)

    def _applied(self) -> Float:
        """The action that was sent last (1, act)."""
        return self._wiring.asked(self._control.sent)[None]

    def _look(self, applied: Float | None) -> None:
        """See the arm as it is when the next command is due, after the command `applied` (act,)."""
        self._observation[self._wiring.positions] = self._control.positions
        self._observation[self._wiring.velocities] = self._control.velocities
        self._take_over(applied)
