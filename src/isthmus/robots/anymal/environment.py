"""One stand-in ANYmal as a Gymnasium environment, so that `isthmus transfer` can adapt a policy to it."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces

from isthmus.core import Float
from isthmus.robots.anymal.remote import RemoteAnymals
from isthmus.robots.anymal.task import FASTEST, SIZE, SLOWEST, make_anymal


class StandInAnymal(gymnasium.Env[Float, Float]):
    """Walks at a random commanded speed; pays the task's own reward, and ends with a fall."""

    def __init__(self, robot: str = "first") -> None:
        """Start the stand-in of that name."""
        self._task, self._robots = make_anymal(), RemoteAnymals(robot, 1)
        spec = self._task.robot_model.spec
        self.observation_space = spaces.Box(-np.inf, np.inf, (SIZE,), np.float64)
        self.action_space = spaces.Box(spec.action_low, spec.action_high, dtype=np.float64)
        self._measured = np.zeros((1, 0))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Float, dict[str, Any]]:
        """Stand up, and be told a speed."""
        super().reset(seed=seed, options=options)
        seen = self._robots.reset(self.np_random.uniform(SLOWEST, FASTEST, 1))
        self._measured = self._measure(seen)
        return seen[0], {}

    def step(self, action: Float) -> tuple[Float, SupportsFloat, bool, bool, dict[str, Any]]:
        """Hold joint targets (12,) for a control period."""
        before, targets = self._measured, np.asarray(action, np.float64)[None]
        seen, ended = self._robots.step(targets)
        self._measured = self._measure(seen)
        reward = self._task.step_reward(before, targets, self._measured)
        return seen[0], float(reward[0]), bool(ended[0]), False, {}

    def close(self) -> None:
        """Switch it off."""
        self._robots.close()

    def _measure(self, seen: Float) -> Float:
        model = self._task.robot_model.model
        fields = {"qpos": np.zeros((1, model.nq)), "qvel": np.zeros((1, model.nv))}
        self._task.robot_model.restore(seen, fields["qpos"], fields["qvel"])
        return self._task.measure(fields)
