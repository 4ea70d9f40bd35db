"""Explain what a robot did in the simulator's terms: which action would have led there in simulation?"""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Simulator
from isthmus.models.gauss_newton import gauss_newton_step
from isthmus.models.metric import Metric
from isthmus.models.sensitivity import action_sensitivity

LARGEST = 3.0
"""Actions are looked for within so many half ranges."""


@dataclass(frozen=True)
class Explainer:
    """argmin_u |T_src(o, u) - o'| in a metric, by Gauss-Newton."""

    simulator: Simulator
    """Without actuator limits: a robot with a stronger motor needs a larger action to be explained."""
    metric: Metric

    def __call__(self, observations: Float, reached: Float, start: Float, iterations: int) -> Float:
        """Actions (n, act) that explain how `observations` led to `reached` (n, obs), looked for from `start`."""
        half, actions = self.simulator.spec.half_range, start
        for _ in range(iterations):
            expected, change = action_sensitivity(self.simulator, observations, actions, self.metric)
            missing = self.metric.weigh(reached - expected)
            jacobian = np.einsum("nda,dk->nka", change, self.metric.root)
            actions = actions + half * gauss_newton_step(jacobian, missing)
            actions = np.clip(actions, -LARGEST * half, LARGEST * half)
        return actions
