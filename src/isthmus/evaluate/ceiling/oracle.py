"""A policy that looks into the target: no method, but what every one-step action adaptation is measured against.

    a = argmin_a |T_tgt(o, a) - o_want|        within the target's own actuator limits

in the target simulator itself.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Bool, Float, History, Policy, Simulator, keep_overflow
from isthmus.models.metric import Metric
from isthmus.models.reach import Reach
from isthmus.policies import Decision
from isthmus.worlds import Embodiment, MujocoWorld

ITERATIONS = 3


@dataclass(frozen=True)
class Found:
    """What the oracle came to in n worlds."""

    decision: Decision
    missed: Float
    """Wanted minus reached, in spreads of the targets (n, d)."""
    limited: Bool
    """Where an actuator at its limit would have gone further (n,)."""


@dataclass(frozen=True)
class OpenTarget:
    """The target, laid open."""

    simulator: Simulator
    """With actuators that know no limits, so that differences can be taken across them."""
    low: Float
    high: Float
    """The limits that it has, in commands (act,)."""

    @staticmethod
    def of(
        body: Embodiment, model: mujoco.MjModel, simulate: Callable[[mujoco.MjModel], Simulator] | None = None
    ) -> "OpenTarget":
        """The robot `body` with the target's model; what lies between commands and actuators is not in a model.

        `simulate` makes a simulator of a model, where more than the model is known of the target.
        """
        model, spec = copy.copy(model), body.spec
        motor = (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED.value) & (
            model.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE.value
        )
        forced = motor & (model.actuator_forcelimited != 0) & (model.actuator_gainprm[:, 0] != 0)
        gain = np.where(forced, model.actuator_gainprm[:, 0], 1.0)
        by_force = np.sort(model.actuator_forcerange / gain[:, None], axis=1)
        low = np.where(forced, np.maximum(spec.action_low, by_force[:, 0]), spec.action_low)
        high = np.where(forced, np.minimum(spec.action_high, by_force[:, 1]), spec.action_high)
        model.actuator_ctrllimited[:] = 0
        model.actuator_forcelimited[forced] = 0
        return OpenTarget(simulate(model) if simulate else MujocoWorld(body, models=model), low, high)


@dataclass
class Oracle:
    """The best command for every step, in a metric."""

    policy: Policy
    source: Simulator
    target: OpenTarget
    metric: Metric
    latest: Found | None = None

    def __call__(self, history: History) -> Float:
        """Commands (n, act) for n histories."""
        return self.decide(history).command

    def decide(self, history: History) -> Decision:
        """The command for n histories, and what it is meant to reach."""
        a_src = self.policy(history)
        o_want = self.source.predict(history, a_src)
        within = self.source.spec.clip(a_src)
        target = self.target
        reach = Reach(target.simulator, target.low, target.high, self.metric, ITERATIONS)
        found = reach(history.current, o_want, within)
        decision = Decision(a_src, o_want, keep_overflow(a_src, found.actions, target.low, target.high))
        self.latest = Found(decision, self.metric.in_spreads(o_want - found.observations), found.limited)
        return decision
