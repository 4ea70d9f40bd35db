"""Any Gymnasium environment as a target: a user's own robot works unchanged."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from isthmus.core import Bool, Float, Problem, Step, WorldSpec


def as_it_is(observation: Float) -> Float:
    """The environment observes what the task does."""
    return observation


class GymnasiumWorld:
    """One environment. Its reward is dropped here: adaptation has no use for it."""

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

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._spec

    @property
    def n(self) -> int:
        """An environment is a world of one."""
        return 1

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode; returns the observation (1, obs)."""
        if which is None or which[0]:
            seen, _ = self._env.reset(seed=int(rng.integers(2**31)))
            self._observation, self._ended = self._checked(seen), False
        return self._observation[None].copy()

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give a command (1, act) and wait one control period."""
        if commands.shape != (1, self._spec.action_size) or not np.isfinite(commands).all():
            raise ValueError(f"expected a finite command of shape (1, {self._spec.action_size})")
        applied = np.minimum(np.maximum(commands, self._low), self._high)
        if not self._ended and (which is None or which[0]):
            seen, _reward, terminated, truncated, _ = self._env.step(applied[0].astype(self._kind))
            self._observation, self._ended = self._checked(seen), bool(terminated or truncated)
        return Step(self._observation[None].copy(), applied, np.array([self._ended]))

    def _checked(self, seen: object) -> Float:
        observation = np.asarray(self._observe(np.asarray(seen, dtype=np.float64)), dtype=np.float64)
        if observation.shape != (self._spec.observation_size,):
            raise Problem(
                f"the environment observes {observation.shape} numbers, but the task {self._spec.observation_size}: "
                "give GymnasiumWorld an `observe` that turns one into the other"
            )
        if not np.isfinite(observation).all():
            raise FloatingPointError("the environment observed a number that is not finite")
        return observation
