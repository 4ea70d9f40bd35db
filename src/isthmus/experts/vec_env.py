"""The batched world as Stable-Baselines3 wants to see it: here, and only here, a reward joins the step."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from isthmus.core import Bool, Float, Step, stream
from isthmus.policies import View
from isthmus.sim import Fields
from isthmus.tasks import Task

WIDE = 1e3
"""Commands stay unclipped up to the actuator; SB3 wants finite bounds all the same."""


class Worlds(Protocol):
    """n simulations to train in: the source's own, or others like it."""

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields, for the reward."""
        ...

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start new episodes; returns all observations (n, obs)."""
        ...

    def step(self, commands: Float) -> Step:
        """Give commands (n, act) for one control period."""
        ...


class BatchedEnv(VecEnv):
    """n simulations with Gym's own reward and time limit."""

    def __init__(
        self,
        task: Task,
        n: int,
        seed: int,
        world: Worlds | None = None,
        view: View | None = None,
        command: Callable[[Float], Float] | None = None,
    ) -> None:
        """Set up n episodes in `world`, the source simulator by default, seen as the task's experts do or by `view`.

        `command` makes commands of a policy's actions, where those are not commands themselves.
        """
        self.task, self.world, self.view = task, world or task.source(n), view or task.view
        self._command = command
        self._rng = stream(seed, "expert", task.name, "episodes")
        self._horizon = task.robot_model.spec.horizon
        self._age = np.zeros(n, np.int64)
        self._commands: Float = np.zeros((n, task.robot_model.spec.action_size))
        spec = task.robot_model.spec
        super().__init__(
            n,
            spaces.Box(-np.inf, np.inf, (self.view.size,), np.float64),
            spaces.Box(-WIDE, WIDE, (spec.action_size,), np.float32),
        )

    def reset(self) -> Float:
        """Start all episodes."""
        self._age[:] = 0
        return self.view.see(self.world.reset(self._rng))

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions (n, act)."""
        actions = np.asarray(actions, dtype=np.float64)
        self._commands = actions if self._command is None else self._command(actions)

    def step_wait(self) -> tuple[Float, Float, np.ndarray, list[dict[str, Any]]]:
        """Step, score, and restart the episodes that are over."""
        before = self.task.measure(self.world.fields).copy()
        step = self.world.step(self._commands)
        rewards = self.task.step_reward(before, step.applied, self.task.measure(self.world.fields))
        self._age += 1
        truncated = (self._age >= self._horizon) & ~step.ended
        done = step.ended | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        observations = self.view.see(step.observations)
        if done.any():
            for world in np.flatnonzero(done):
                infos[world] = {
                    "terminal_observation": observations[world],
                    "TimeLimit.truncated": bool(truncated[world]),
                }
            observations = self.view.see(self.world.reset(self._rng, done))
            self._age[done] = 0
        return observations, rewards, done, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: object = None) -> list[Any]:
        """Attributes of all worlds."""
        return [getattr(self, attr_name, None)] * len(self._get_indices(indices))  # pyright: ignore

    def set_attr(self, attr_name: str, value: object, indices: object = None) -> None:
        """The worlds have no attributes of their own."""
        raise NotImplementedError(attr_name)

    def env_method(self, method_name: str, *args: object, indices: object = None, **kwargs: object) -> list[Any]:
        """The worlds have no methods of their own."""
        raise NotImplementedError(method_name)

    def env_is_wrapped(self, wrapper_class: type, indices: object = None) -> Sequence[bool]:  # noqa: ARG002  # pyright: ignore
        """The worlds are bare."""
        return [False] * len(self._get_indices(indices))  # pyright: ignore
