"""Explain what a robot did in the simulator's terms: which action would have led there in simulation?"""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Simulator
from isthmus.core.linear import solve
from isthmus.models.metric import Metric
from isthmus.models.sensitivity import action_sensitivity

LARGEST_STEP = 1.0
LARGEST = 3.0
"""Actions are looked for within so many half ranges."""
DAMPING = 1e-6


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
            normal = np.einsum("nka,nkb->nab", jacobian, jacobian)
            damping = DAMPING * np.trace(normal, axis1=1, axis2=2) + 1e-12
            normal += damping[:, None, None] * np.eye(len(half))
            wanted = solve(normal, np.einsum("nka,nk->na", jacobian, missing)[..., None])[..., 0]
            actions = actions + half * np.clip(wanted, -LARGEST_STEP, LARGEST_STEP)
            actions = np.clip(actions, -LARGEST * half, LARGEST * half)
        return actions
