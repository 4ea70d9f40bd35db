"""A policy that looks into the target: no method, but what every one-step action adaptation is measured against.

    a = argmin_a |T_tgt(o, a) - o_want|        within the target's own actuator limits

in the target simulator itself.
"""

from dataclasses import dataclass

from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import AnyPolicy, Bool, Float, History, PolicyState, Simulator, act, keep_overflow
from isthmus.core.metric import Metric
from isthmus.policies import AdaptedPolicy, Decision
from isthmus.sysid.open_target import UnclampedTarget

ITERATIONS = 3


@dataclass(frozen=True, slots=True)
class OracleDecision(Decision):
    """One control step of the oracle, with how near it came."""

    missed: Float
    """Wanted minus reached, in standard deviations of the targets (n, d)."""
    limited: Bool
    """Where an actuator at its limit would have gone further (n,)."""


@dataclass(frozen=True)
class OraclePolicy(AdaptedPolicy):
    """The best command for every step, in a metric."""

    policy: AnyPolicy
    source: Simulator
    target: UnclampedTarget
    metric: Metric

    def decide(self, history: History, state: PolicyState) -> tuple[OracleDecision, PolicyState]:
        """The command for n histories, and what it is meant to reach."""
        a_src, state = act(self.policy, history, state)
        o_want = self.source.predict(history, a_src)
        within = self.source.spec.clip(a_src)
        target = self.target
        reach = OneStepInverse(target.simulator, target.low, target.high, self.metric, ITERATIONS)
        found = reach(history.current, o_want, within)
        command = keep_overflow(a_src, found.actions, target.low, target.high)
        missed = self.metric.scaled(o_want - found.observations)
        return OracleDecision(a_src, o_want, command, missed, found.limited), state
