"""Any Gymnasium environment as a target: a user's own robot works unchanged, behind the same guard as any robot."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from isthmus.core import Bool, Estimator, Float, Lost, Problem, Step, WorldSpec
from isthmus.hardware import Guard, SafetySettings, Stop, Unsafe
from isthmus.hardware.one_robot import OneRobot
from isthmus.hardware.oversight import Abandon, Oversight
from isthmus.hardware.stop import KEPT
from isthmus.sim.environment import Environment, as_it_is, as_numbers, make_environment
from isthmus.sim.environment_limits import environment_limits


class GymnasiumWorld(OneRobot):
    """One environment, which may be a real robot. Its reward is out of reach behind a `Robot`.

    Every command is within all limits. Whatever goes wrong in the environment's code, or with what it returns, the
    environment is held if it can be, and a Problem says in one sentence what it was.
    """

    def __init__(
        self,
        environment: Environment,
        spec: WorldSpec,
        *,
        speeds: Float | None = None,
        safety: SafetySettings | None = None,
        stop: Stop | None = None,
        oversight: Oversight | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        """Command `environment`; `speeds` are those its joints may have (act,), where its actions are positions.

        An `estimator` makes observations of what the environment shows. What keeps the robot safe looks at the latter.
        """
        self._safety, self._stop = safety or SafetySettings(), stop or Stop()
        self._limits = environment_limits(environment, spec, speeds, self._safety)
        super().__init__(spec, estimator)
        self._environment = environment
        self._guard, self._readings = Guard(self._limits.commands), self._limits.readings()
        kind: Any = environment.env.action_space.dtype
        self._kind = np.dtype(kind)
        self._sent = np.zeros(spec.action_size)
        self._ended = True
        self._time, self._looked = 0.0, 0.0
        self.steps, self.resets = 0, 0
        """How often the environment was asked to do each, whatever came of it."""
        self.reward = 0.0
        """What the environment paid for the last step, for scores."""
        self._oversight = oversight or Oversight(self._stop, self._safety.patience)
        self._oversight.take_over(environment.hold, environment.env.close)
        self._time_limit = spec.control_period + self._safety.overrun

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode; returns the observation (1, obs)."""
        if which is not None and not which[0]:
            return self.observations
        seed = int(rng.integers(2**31))
        self._ended = True
        self._check_stop()
        self._oversight.begin()
        self.resets += 1
        with self._calling("reset()", self._safety.blocked):
            returned: object = self._environment.env.reset(seed=seed)
        self._check_stop()
        seen, _ = self._parts("reset()", returned, 2)
        self._time, self._looked = 0.0, time.monotonic()
        if self._readings is not None:
            self._readings.forget()
        self._look(seen)
        self._take_over(None)
        self._sent = self._rest()
        self._ended = False
        return self.observations

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give the part of a command (1, act) that all limits allow, and wait one control period."""
        if commands.shape != (1, self._spec.action_size):
            raise ValueError(f"expected a command of shape (1, {self._spec.action_size}), got {commands.shape}")
        if self._ended or (which is not None and not which[0]):
            return Step(self.observations, self._sent[None].copy(), np.array([self._ended]))
        self._check()
        self._sent = self._admitted(commands[0])
        self.steps += 1
        with self._calling("step()", self._time_limit if self._oversight.holds else self._safety.blocked):
            returned: object = self._environment.env.step(self._sent.astype(self._kind))
        self._check()
        seen, reward, terminated, truncated, _ = self._parts("step()", returned, 5)
        self._look(seen)
        self._take_over(self._sent)
        self.reward = self._paid(reward)
        self._ended = bool(terminated or truncated)
        if self._oversight.holds:
            self._oversight.expect(f"no command came for {self._time_limit:g} s", self._time_limit)
        return Step(self.observations, self._sent[None].copy(), np.array([self._ended]))

    def close(self) -> str:
        """Hold and close the environment, once; says what went wrong with that, if anything did."""
        self._ended = True
        self._oversight.close(self._safety.blocked)
        return "; ".join(self._oversight.troubles)

    def _admitted(self, command: Float) -> Float:
        measured = self._observation[list(self._limits.positions)] if self._limits.positions else self._sent
        try:
            return self._guard.admit(command, self._sent, measured)
        except Unsafe as fault:
            self._fail(str(fault))

    def _rest(self) -> Float:
        """What the first command of an episode is a step away from: the joints' positions, or no effort."""
        limits = self._limits.commands
        start = self._observation[list(self._limits.positions)] if self._limits.positions else np.zeros(len(limits.low))
        return np.minimum(np.maximum(start, limits.low), limits.high)

    @contextmanager
    def _calling(self, what: str, seconds: float) -> Generator[None]:
        """The environment's own code runs in here."""
        try:
            with self._oversight.call(what, seconds):
                yield
        except (Exception, SystemExit) as error:
            self._check_stop()
            self._fail(f"{what} of {self._environment.name} raised {self._environment.blame(error)}")

    def _parts(self, what: str, returned: object, count: int) -> tuple[object, ...]:
        if not isinstance(returned, tuple) or len(returned) != count:  # pyright: ignore[reportUnknownArgumentType]
            self._fail(f"{what} of {self._environment.name} has to return {count} values")
        return returned  # pyright: ignore[reportUnknownVariableType]

    def _look(self, seen: object) -> None:
        """Take over an observation that can be true."""
        environment, size = self._environment, self._spec.observation_size
        try:
            whole = isinstance(seen, dict | tuple) and environment.observe is not as_it_is  # parts, for observe()
            observation = as_numbers(environment.observe(seen if whole else as_numbers(seen)))  # pyright: ignore[reportUnknownArgumentType]
        except Problem as problem:
            self._fail(f"{environment.name} {problem}")
        except (Exception, SystemExit) as error:
            self._fail(f"observe() of {environment.name} raised {environment.blame(error)}")
        if observation.shape != (size,):
            self._fail(
                f"{environment.name} observes {observation.shape} numbers, but the task {size}: "
                "give it in a file whose observe(observation) turns one into the other"
            )
        if why := self._implausible(observation):
            self._fail(f"an observation of {environment.name} cannot be true: {why}")
        self._observation = observation

    def _implausible(self, observation: Float) -> str:
        """What is wrong with an observation (obs,); empty if it can be true."""
        if not np.isfinite(observation).all():
            return "it is not finite"
        outside = (observation < self._limits.low) | (observation > self._limits.high)
        if outside.any():
            at = int(np.argmax(outside))
            return f"{self._spec.observation_names[at]} is {observation[at]:.4g}"
        # A robot moves on while we are late, and a simulation may be faster than real time: the longer counts.
        now = time.monotonic()
        self._time += max(now - self._looked, self._spec.control_period)
        self._looked = now
        if self._readings is None:
            return ""
        positions = observation[list(self._limits.positions)]
        velocities = observation[list(self._limits.velocities)]
        return self._readings.fault(positions, velocities, self._time)

    def _paid(self, reward: object) -> float:
        try:
            paid = float(reward)  # pyright: ignore[reportArgumentType]
        except (TypeError, ValueError):
            paid = np.nan
        if not np.isfinite(paid):
            self._fail(f"the reward of {self._environment.name} is {reward!r}, not a finite number")
        return paid

    def _check_stop(self) -> None:
        if self._stop.asked:
            self._fail(f"stopped ({self._stop.why})")

    def _check(self) -> None:
        self._check_stop()
        if late := self._oversight.late:
            self._ended = True
            raise Lost(
                f"{late}, and {self._environment.name} was held: if that is its pace, loosen --safety.overrun; {KEPT}"
            )

    def _fail(self, why: str) -> NoReturn:
        """End the run: no further command, a hold, and one sentence."""
        self._ended = True
        self._oversight.hold()
        held = ", and it was held" if self._oversight.holds and not self._oversight.troubles else ""
        raise Problem("; ".join((f"{why}{held}", *self._oversight.troubles, KEPT)))


def open_environment(
    text: str,
    spec: WorldSpec,
    *,
    speeds: Float | None = None,
    safety: SafetySettings | None = None,
    stop: Stop | None = None,
    abandon: Abandon | None = None,
    estimator: Estimator | None = None,
) -> GymnasiumWorld:
    """Make the environment of that id or in that file, and stand guard before it; whoever opens it closes it."""
    safety, stop = safety or SafetySettings(), stop or Stop()
    oversight = Oversight(stop, safety.patience, abandon)
    try:
        with oversight.call("make_env()", safety.blocked):
            environment = make_environment(text)
        oversight.take_over(environment.hold, environment.env.close)
        return GymnasiumWorld(
            environment, spec, speeds=speeds, safety=safety, stop=stop, oversight=oversight, estimator=estimator
        )
    except BaseException:
        oversight.close(safety.blocked)
        raise
