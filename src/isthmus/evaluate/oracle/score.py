"""How much of a gap one-step action adaptation could close at all, and what stands in its way.

This is an oracle, no method: it optimises every command in the target simulator itself. It knows the target's model;
noise, delays and sensor errors are the world's, and the oracle meets them as everybody else does.

Where the target is known from logs alone, a forward model fitted to them stands in for it, and the outcome is an
estimate: no better than the model.

A policy that looks into the target: no method, but what every one-step action adaptation is measured against.

    a = argmin_a |T_tgt(o, a) - o_want|        within the target's own actuator limits

in the target simulator itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from isthmus.adapt.common.cost_to_go import cost_to_go, even_metric
from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import (
    AnyPolicy,
    Bool,
    Episode,
    Float,
    History,
    PolicyState,
    PolicyWrapper,
    Problem,
    Simulator,
    act,
    keep_overflow,
    stream,
    unknown_name,
)
from isthmus.core.commit import current_commit
from isthmus.core.metric import ROOT_WEIGHT, Metric
from isthmus.core.statistics import standard_error
from isthmus.evaluate.evaluation import Evaluation, Scale, Scorable, evaluate
from isthmus.gaps import Gap
from isthmus.policies import AdaptedPolicy, Decision, ZeroPolicy
from isthmus.sim.anatomy import unactuated_targets
from isthmus.sysid.forward_model import ForwardFit, fit_forward_model
from isthmus.sysid.open_target import UnclampedTarget
from isthmus.tasks import Task

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
        inverse = OneStepInverse(target.simulator, target.low, target.high, self.metric, ITERATIONS)
        found = inverse(history.current, o_want, within)
        command = keep_overflow(a_src, found.actions, target.low, target.high)
        missed = self.metric.scaled(o_want - found.observations)
        return OracleDecision(a_src, o_want, command, missed, found.limited), state


ROLLOUTS = 16
"""Simulations of the policy's trajectory that tell how much an observation changes in a step."""


def _even(task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    return even_metric(policy, task.unclamped(ROLLOUTS), rng)


def _root(task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    return _even(task, policy, rng).stressing(unactuated_targets(task.robot_model), ROOT_WEIGHT)


def _cost_to_go(task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    return cost_to_go(policy, task.unclamped(ROLLOUTS), rng)


METRICS: dict[str, Callable[[Task, AnyPolicy, np.random.Generator], Metric]] = {
    "even": _even,
    "root": _root,
    "cost-to-go": _cost_to_go,
}
"""All alike, in standard deviations of a step; the unactuated five times more; or by what correcting an error costs."""


def make_metric(name: str, task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    """The metric of that name, from the source simulator alone."""
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name](task, policy, rng)


TOLERANCE = 0.05
"""A wanted state was out of reach when some target was missed by more than this, in standard deviations of a step."""


@dataclass(frozen=True)
class OracleScore:
    """What the oracle reached, and what it could not."""

    task: str
    gap: str
    metric: str
    episodes: int
    seed: int
    normalised: float
    """The oracle's score, on the scale of every other."""
    standard_error: float
    normalised_unadapted: float
    limited: float
    """Share of the steps whose wanted state was out of reach, with an actuator at its limit."""
    unactuated: float
    """Share of the steps whose wanted state was out of reach though no limit was: not every direction is actuated."""
    missed: dict[str, float]
    """How far each target was missed, in standard deviations of a step (root mean square), the farthest first."""
    fitted: ForwardFit | None = None
    """How good the forward model is that stands in for a target known from logs alone; None for the oracle."""

    @property
    def out_of_reach(self) -> float:
        """Share of the steps whose wanted state was out of reach."""
        return self.limited + self.unactuated

    def to_json(self) -> dict[str, Any]:
        """As plain data, marked as what it is."""
        known = {"oracle": self.fitted is None, "estimate": self.fitted is not None}
        fitted = asdict(self.fitted) if self.fitted else None
        whole = {**known, **vars(self), "fitted": fitted, "out_of_reach": self.out_of_reach}
        return whole | {"commit": current_commit()}


def oracle_score(task: Task, gap: Gap, policy: AnyPolicy, metric: str, *, episodes: int, seed: int) -> OracleScore:
    """Let the oracle carry `policy` across `gap`, from the starts of a run of that seed."""
    gap = gap.resolve(task.robot_model.model)
    target = UnclampedTarget.of(task.robot_model, gap.apply(task.robot_model.model))
    trial = _Trial(task, policy, metric, episodes, seed)
    return trial.score(str(gap), target, lambda: task.target(gap, episodes))


def estimated_oracle_score(
    task: Task, logs: Sequence[Episode], name: str, policy: AnyPolicy, metric: str, *, episodes: int, seed: int
) -> OracleScore:
    """The same in a forward model that was fitted to `logs` of a target, which is known as `name`."""
    trial = _Trial(task, policy, metric, episodes, seed)
    forward = fit_forward_model(task.robot_model, logs)
    found = trial.score(name, forward.unclamped_target(), lambda: forward.world(episodes))
    return replace(found, fitted=forward.fitted)


@dataclass(frozen=True)
class _Trial:
    """What is to be carried across, and how it is scored."""

    task: Task
    policy: AnyPolicy
    metric: str
    episodes: int
    seed: int

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise Problem(f"episodes must be at least 1, got {self.episodes}")

    def score(self, gap: str, target: UnclampedTarget, make_world: Callable[[], Scorable]) -> OracleScore:
        task, policy, spec = self.task, self.policy, self.task.robot_model.spec
        metric = make_metric(self.metric, task, policy, stream(self.seed, "cost-to-go"))
        pi_src = sim_derived_policy(task.robot_model, policy, stream(self.seed, "shown"))(policy)
        oracle = OraclePolicy(pi_src, task.source(), target, metric)
        zero = self._run(task.source(self.episodes), ZeroPolicy(spec.action_size)).score
        expert = self._run(task.source(self.episodes), policy).score
        if not expert > zero:
            raise Problem(f"the policy scores {expert:g} in its own simulator, no better than doing nothing ({zero:g})")
        scale = Scale(zero, expert)
        tally = _Tally(oracle)
        reached = self._run(make_world(), tally, tally.count)
        errors = np.sqrt(np.mean(np.square(np.concatenate(tally.missed)), axis=0))
        limited = np.concatenate(tally.limited)
        beyond = np.concatenate(tally.beyond)
        names: list[str] = [spec.observation_names[int(target)] for target in spec.targets]
        return OracleScore(
            task=task.name,
            gap=gap,
            metric=self.metric,
            episodes=self.episodes,
            seed=self.seed,
            normalised=scale(reached.score),
            standard_error=float(standard_error(reached.scores, ddof=0) / (scale.expert - scale.zero)),
            normalised_unadapted=scale(self._run(make_world(), policy).score),
            limited=float((beyond & limited).mean()),
            unactuated=float((beyond & ~limited).mean()),
            missed={names[i]: float(errors[i]) for i in np.argsort(-errors)},
        )

    def _run(self, world: Scorable, policy: AnyPolicy, watch: Callable[[Bool], None] | None = None) -> Evaluation:
        return evaluate(self.task, world, policy, 1, stream(self.seed, "evaluate"), watch=watch)


class _Tally(PolicyWrapper):
    """The oracle, with what it missed in the steps of episodes that were still running."""

    def __init__(self, oracle: OraclePolicy) -> None:
        self.policy: OraclePolicy = oracle
        self._latest: OracleDecision | None = None
        self.missed: list[Float] = []
        self.limited: list[Bool] = []
        self.beyond: list[Bool] = []

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        self._latest, state = self.policy.decide(history, state)
        return self._latest.command, state

    def count(self, running: Bool) -> None:
        """Add the latest decision, in the episodes that it was for (n,)."""
        if self._latest is not None:
            missed = self._latest.missed[running]
            self.missed.append(missed)
            self.limited.append(self._latest.limited[running])
            self.beyond.append(np.abs(missed).max(axis=1) > TOLERANCE)
