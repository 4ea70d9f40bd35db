"""Explain what a robot did in the simulator's terms: which action would have led there in simulation?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.gauss_newton import gauss_newton_step
from isthmus.core import Float, Simulator
from isthmus.core.linear import solve
from isthmus.core.metric import Metric
from isthmus.sim.sensitivity import quick_action_sensitivity

TINY = 1e-12
LARGEST = 3.0
"""Actions are looked for within so many half ranges."""


@dataclass(frozen=True)
class EffectiveAction:
    """What n steps are explained by, and how well that is known."""

    actions: Float
    """The u that comes closest to what was reached (n, act)."""
    errors: Float
    """How far u is from the action that was taken, as far as it is worth the effort, in half ranges (n, act)."""
    gain: Float
    """The share of an error that shows in `errors`: 1 where an action has much effect, 0 where it has none (n, act)."""

    @staticmethod
    def joined(parts: "Sequence[EffectiveAction]") -> "EffectiveAction":
        """One after the other."""
        return EffectiveAction(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("actions", "errors", "gain"))
        )

    def __getitem__(self, rows: slice) -> "EffectiveAction":
        """Some of the steps."""
        return EffectiveAction(self.actions[rows], self.errors[rows], self.gain[rows])


@dataclass(frozen=True)
class EffectiveActionEstimator:
    """argmin_u |T_src(o, u) - o'| in a metric, by Gauss-Newton.

    Where an action has little effect, a large one is needed to explain a small difference, or to make up for it. The
    regulator behind the metric has a price for that, R, and with it

        error = argmin_e |T_src(o, a + e) - o'|^2 + R |e|^2
    """

    simulator: Simulator
    """Without actuator limits: a robot with a stronger motor needs a larger action to be explained."""
    metric: Metric

    def __call__(
        self, observations: Float, reached: Float, actions: Float, iterations: int, start: Float | None = None
    ) -> EffectiveAction:
        """Explain how `observations` led to `reached` (n, obs) when `actions` (n, act) were taken.

        It is looked for from `start`, or else from those actions.
        """
        half, found = self.simulator.spec.half_range, actions if start is None else start
        far = self.simulator.spec.middle - LARGEST * half, self.simulator.spec.middle + LARGEST * half
        for _ in range(iterations - 1):
            jacobian, missing = self._missing(observations, reached, found)
            found = np.clip(found + half * gauss_newton_step(jacobian, missing), *far)
        jacobian, missing = self._missing(observations, reached, found)
        total = missing + np.einsum("nka,na->nk", jacobian, (found - actions) / half)
        found = np.clip(found + half * gauss_newton_step(jacobian, missing), *far)
        normal = np.einsum("nka,nkb->nab", jacobian, jacobian)
        priced = normal + (self.metric.effort + TINY) * np.eye(len(half))
        errors = solve(priced, np.einsum("nka,nk->na", jacobian, total)[..., None])[..., 0]
        gain = np.diagonal(solve(priced, normal), axis1=1, axis2=2)
        return EffectiveAction(found, np.clip(errors, -LARGEST, LARGEST), gain)

    def _missing(self, observations: Float, reached: Float, actions: Float) -> tuple[Float, Float]:
        """How what comes next changes with the actions (n, d, act), and what it lacks (n, d)."""
        expected, change = quick_action_sensitivity(self.simulator, observations, actions, self.metric)
        return np.einsum("nda,dk->nka", change, self.metric.root), self.metric.weigh(reached - expected)
