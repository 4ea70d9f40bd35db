"""What a world of one real robot has: the sensors' latest values, and what an estimator makes of them."""

import numpy as np

from isthmus.core import Estimator, Float, WorldSpec


class OneRobot:
    """Keeps what the sensors show apart from what is observed: safety and scores look at the sensors."""

    n = 1
    """A robot is a world of one."""

    def __init__(self, spec: WorldSpec, estimator: Estimator | None) -> None:
        """Observe what the sensors show, or what an `estimator` makes of it."""
        self._spec, self._estimator = spec, estimator
        self._observation = np.zeros(spec.observation_size)
        self._estimate = self._observation[None].copy()

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._spec

    @property
    def observations(self) -> Float:
        """What was observed last (1, obs)."""
        return self._estimate.copy()

    @property
    def sensed(self) -> Float:
        """What the sensors showed last (1, obs), before any estimator: what a robot is judged by."""
        return self._observation[None].copy()

    def _take_over(self, applied: Float | None) -> None:
        """Observe what the sensors show now, after `applied` (act,), or at the start of an episode."""
        self._estimate = self._observation[None].copy()
        if self._estimator is not None and applied is None:
            self._estimate = self._estimator.begin(self._estimate, slice(None))
        elif self._estimator is not None and applied is not None:
            self._estimate = self._estimator(self._estimate, applied[None], slice(None))
