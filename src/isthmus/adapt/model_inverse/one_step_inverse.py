"""Which action leads to a wanted observation, or as near to it as can be, in a model that predicts.

    a = argmin_a |T(o, a) - o_want|        within limits

by projected Gauss-Newton.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.gauss_newton import gauss_newton_step
from isthmus.core import Bool, Float, Simulator
from isthmus.core.metric import Metric
from isthmus.sim.sensitivity import predict_in_chunks, quick_action_sensitivity


@dataclass(frozen=True)
class InverseSolution:
    """The best that was found in n worlds."""

    actions: Float  # (n, act)
    observations: Float
    """Where they lead (n, obs)."""
    limited: Bool
    """Where an actuator at its limit would have gone further (n,)."""


@dataclass(frozen=True)
class OneStepInverse:
    """Looks for actions between `low` and `high` (act,)."""

    simulator: Simulator
    """With actuators that know no limits, so that differences can be taken across them."""
    low: Float
    high: Float
    metric: Metric
    iterations: int

    def __call__(self, observations: Float, wanted: Float, start: Float) -> InverseSolution:
        """The best on the way from `start` (n, act) that brings `observations` to `wanted`, each (n, obs)."""
        half, actions = self.simulator.spec.half_range, np.clip(start, self.low, self.high)
        best, reached, least = actions, observations, np.full(len(actions), np.inf)
        limited = np.zeros(len(actions), np.bool_)
        jacobian = np.empty((0, 0, 0))
        for iteration in range(self.iterations + 1):
            if iteration < self.iterations or not iteration:
                expected, change = quick_action_sensitivity(self.simulator, observations, actions, self.metric)
                jacobian = np.einsum("nda,dk->nka", change, self.metric.root)
            else:  # nobody goes on from here, and the derivatives before are close enough to tell what is at its limit
                expected = predict_in_chunks(self.simulator, observations, actions)
            missing = self.metric.weigh(wanted - expected)
            slope = np.einsum("nka,nk->na", jacobian, missing)
            held = ((actions <= self.low) & (slope < 0)) | ((actions >= self.high) & (slope > 0))
            error = np.square(missing).sum(axis=1)
            better = error < least
            best = np.where(better[:, None], actions, best)
            reached = np.where(better[:, None], expected, reached)
            limited = np.where(better, held.any(axis=1), limited)
            least = np.minimum(error, least)
            if iteration < self.iterations:
                step = half * gauss_newton_step(jacobian, missing, held)
                actions = np.clip(actions + step, self.low, self.high)
        return InverseSolution(best, reached, limited)
