"""Any Gymnasium environment as a target: a user's own robot works unchanged."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from isthmus.core import Bool, Float, Problem, Step, WorldSpec


def as_it_is(observation: Float) -> Float:
    """The environment observes what the task does."""
    return observation


class GymnasiumWorld:
    """One environment. Its reward is out of reach behind a `Robot`: adaptation has no use for it."""

    def __init__(
        self, env: gymnasium.Env[Any, Any], spec: WorldSpec, observe: Callable[[Float], Float] = as_it_is
    ) -> None:
        """Wrap `env`; `observe` turns what it returns into the observation (obs,) that `spec` names."""
        space = env.action_space
        if not isinstance(space, gymnasium.spaces.Box) or space.shape != (spec.action_size,):
            raise Problem(f"the environment takes actions {space}, but the task has {spec.action_size} actuators")
        self._env, self._spec, self._observe = env, spec, observe
        self._low, self._high = space.low.astype(np.float64), space.high.astype(np.float64)
        self._kind = space.dtype
        self._observation = np.zeros(spec.observation_size)
        self._ended = True
        self.reward = 0.0
        """What the environment paid for the last step, for scores."""

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._spec

    @property
    def n(self) -> int:
        """An environment is a world of one."""
        return 1

    @property
    def observations(self) -> Float:
        """What was seen last (1, obs)."""
        return self._observation[None].copy()

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode; returns the observation (1, obs)."""
        if which is None or which[0]:
            seen, _ = self._env.reset(seed=int(rng.integers(2**31)))
            self._observation, self._ended = self._checked(seen), False
        return self.observations

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give a command (1, act) and wait one control period."""
        if commands.shape != (1, self._spec.action_size) or not np.isfinite(commands).all():
            raise ValueError(f"expected a finite command of shape (1, {self._spec.action_size})")
        applied = np.minimum(np.maximum(commands, self._low), self._high)
        if not self._ended and (which is None or which[0]):
            seen, reward, terminated, truncated, _ = self._env.step(applied[0].astype(self._kind))
            self._observation, self._ended = self._checked(seen), bool(terminated or truncated)
            self.reward = float(reward)
        return Step(self.observations, applied, np.array([self._ended]))

    def _checked(self, seen: object) -> Float:
        observation = np.asarray(self._observe(np.asarray(seen, dtype=np.float64)), dtype=np.float64)
        if observation.shape != (self._spec.observation_size,):
            raise Problem(
                f"the environment observes {observation.shape} numbers, but the task {self._spec.observation_size}: "
                "give it in a file whose observe(observation) turns one into the other"
            )
        if not np.isfinite(observation).all():
            raise FloatingPointError("the environment observed a number that is not finite")
        return observation


def load_environment(text: str, spec: WorldSpec) -> GymnasiumWorld:
    """The environment that Gymnasium knows by that id, or that `make_env()` gives in a Python file of the user's.

    A file may also define `observe(observation)`, for an environment that observes otherwise than the task does.
    """
    if not text.endswith(".py"):
        try:
            return GymnasiumWorld(gymnasium.make(text), spec)
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise Problem(f"Gymnasium has no environment {text!r} ({str(error).splitlines()[0]})") from error
    if not Path(text).is_file():
        raise Problem(f"there is no environment at {text}: give a Python file that defines make_env()")
    defined = runpy.run_path(text)
    make, observe = defined.get("make_env"), defined.get("observe", as_it_is)
    env: object = make() if callable(make) else None
    if not isinstance(env, gymnasium.Env):
        raise Problem(f"{text} has no make_env() that returns a gymnasium.Env")
    return GymnasiumWorld(env, spec, observe)  # pyright: ignore[reportUnknownArgumentType]
