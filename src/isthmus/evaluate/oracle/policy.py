"""A policy that looks into the target: no method, but what every one-step action adaptation is measured against.

    a = argmin_a |T_tgt(o, a) - o_want|        within the target's own actuator limits

in the target simulator itself.
"""

from dataclasses import dataclass

from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import Bool, Float, History, Policy, Simulator, keep_overflow
from isthmus.core.metric import Metric
from isthmus.policies import Decision
from isthmus.sysid.open_target import UnclampedTarget

ITERATIONS = 3


@dataclass(frozen=True)
class Found:
    """What the oracle came to in n worlds."""

    decision: Decision
    missed: Float
    """Wanted minus reached, in spreads of the targets (n, d)."""
    limited: Bool
    """Where an actuator at its limit would have gone further (n,)."""


@dataclass
class OraclePolicy:
    """The best command for every step, in a metric."""

    policy: Policy
    source: Simulator
    target: UnclampedTarget
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
        reach = OneStepInverse(target.simulator, target.low, target.high, self.metric, ITERATIONS)
        found = reach(history.current, o_want, within)
        decision = Decision(a_src, o_want, keep_overflow(a_src, found.actions, target.low, target.high))
        self.latest = Found(decision, self.metric.scaled(o_want - found.observations), found.limited)
        return decision
