"""Which action leads to a wanted observation, or as near to it as can be, in a model that predicts.

    a = argmin_a |T(o, a) - o_want|^2 + R |a - a_0|^2        within limits

by Gauss-Newton. Each step is the least of a quadratic within the limits, so that the actuators that are free make up
for those that are not. R is a price of changing the action that the search begins with, if there is one: where an
action has little effect, a large one is not worth what it brings. Near the limits and around contacts one step is not
enough; further ones are taken while the derivatives promise that they pay.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.gauss_newton import DAMPING, LARGEST_STEP
from isthmus.adapt.common.least_in_box import least_in_box
from isthmus.core import Bool, Float, Simulator
from isthmus.core.metric import Metric
from isthmus.sim.sensitivity import for_robots, predict_in_chunks, quick_action_derivatives

PAYS = 0.02
"""Share of the squared error that another step must promise to remove."""
TINY = 1e-12
"""A squared error, in standard deviations of a step, that is none."""


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
    """Steps at most."""
    price: float = 0.0
    """R, for a change of one half range."""

    def __call__(self, observations: Float, wanted: Float, start: Float) -> InverseSolution:
        """The best on the way from `start` (n, act) that brings `observations` to `wanted`, each (n, obs).

        What is found for one of the n does not depend on the others.
        """
        half, simulator = self.simulator.spec.half_range, for_robots(self.simulator, len(observations))
        actions = begun = np.clip(start, self.low, self.high)
        reached = predict_in_chunks(simulator, observations, actions)
        missing = self.metric.weigh(wanted - reached)
        error, reach = np.square(missing).sum(axis=1), np.full(len(actions), LARGEST_STEP)
        going, jacobian = error > TINY, np.zeros((len(actions), missing.shape[1], actions.shape[1]))
        for iteration in range(self.iterations):
            if iteration:  # by the derivatives there are, before others are paid for
                going = going & (self._step(jacobian, missing, actions, begun, reach)[1] > PAYS * error)
            if not going.any():
                break
            change = quick_action_derivatives(self.simulator, observations, actions, self.metric)
            jacobian = np.einsum("nda,dk->nka", change, self.metric.root)
            step, _ = self._step(jacobian, missing, actions, begun, reach)
            tried = np.where(going[:, None], np.clip(actions + half * step, self.low, self.high), actions)
            expected = predict_in_chunks(simulator, observations, tried)
            left = self.metric.weigh(wanted - expected)
            better = self._cost(left, tried - begun) < error
            reach = np.where(better, reach, np.abs(step).max(axis=1) / 2)
            actions, reached = np.where(better[:, None], tried, actions), np.where(better[:, None], expected, reached)
            missing = np.where(better[:, None], left, missing)
            error = self._cost(missing, actions - begun)
        slope = np.einsum("nka,nk->na", jacobian, missing)
        held = ((actions <= self.low) & (slope < 0)) | ((actions >= self.high) & (slope > 0))
        return InverseSolution(actions, reached, held.any(axis=1))

    def _cost(self, missing: Float, changes: Float) -> Float:
        """What it costs to miss so much (n, k) by changes of the action (n, act)."""
        changes = changes / self.simulator.spec.half_range
        return np.square(missing).sum(axis=1) + self.price * np.square(changes).sum(axis=1)

    def _step(self, jacobian: Float, missing: Float, actions: Float, begun: Float, reach: Float) -> tuple[Float, Float]:
        """The step (n, act) within limits that makes up for `missing` (n, k), in half ranges, and its gain (n,)."""
        half, far = self.simulator.spec.half_range, reach[:, None]
        normal = np.einsum("nka,nkb->nab", jacobian, jacobian) + self.price * np.eye(len(half))
        slope = np.einsum("nka,nk->na", jacobian, missing) - self.price * (actions - begun) / half
        damping = DAMPING * np.trace(normal, axis1=1, axis2=2) + TINY
        damped = normal + damping[:, None, None] * np.eye(len(half))
        low, high = (np.clip((limit - actions) / half, -far, far) for limit in (self.low, self.high))
        step, _ = least_in_box(damped, -slope, low, high)
        gain = 2 * np.einsum("na,na->n", slope, step) - np.einsum("na,nab,nb->n", step, normal, step)
        return step, gain
