"""How much of a gap one-step action adaptation could close at all, and what stands in its way.

This is an oracle, no method: it optimises every command in the target simulator itself. It knows the target's model;
noise, delays and sensor errors are the world's, and the oracle meets them as everybody else does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.core import Bool, Float, Policy, Problem, stream
from isthmus.evaluate.ceiling.metrics import make_metric
from isthmus.evaluate.ceiling.oracle import OpenTarget, Oracle
from isthmus.evaluate.evaluation import Evaluation, evaluate
from isthmus.evaluate.normalise import Scale
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.tasks import Task

TOLERANCE = 0.05
"""A wanted state was out of reach when some target was missed by more than this, in spreads of a step."""


@dataclass(frozen=True)
class Ceiling:
    """What the oracle reached, and what it could not."""

    task: str
    gap: str
    metric: str
    episodes: int
    seed: int
    normalised: float
    """The ceiling: the oracle's score on the scale of every other."""
    standard_error: float
    normalised_unadapted: float
    limited: float
    """Share of the steps whose wanted state was out of reach, with an actuator at its limit."""
    unactuated: float
    """Share of the steps whose wanted state was out of reach though no limit was: not every direction is actuated."""
    missed: dict[str, float]
    """How far each target was missed, in spreads of a step (root mean square), the farthest first."""

    @property
    def out_of_reach(self) -> float:
        """Share of the steps whose wanted state was out of reach."""
        return self.limited + self.unactuated

    def to_json(self) -> dict[str, Any]:
        """As plain data, marked as what it is."""
        return {"oracle": True, **vars(self), "out_of_reach": self.out_of_reach}


def ceiling(task: Task, gap: Gap, policy: Policy, metric: str, *, episodes: int, seed: int) -> Ceiling:
    """Let the oracle carry `policy` across `gap`, from the starts of a crossing of that seed."""
    if episodes < 1:
        raise Problem(f"episodes must be at least 1, got {episodes}")
    body, gap = task.embodiment, gap.resolve(task.embodiment.model)
    target = OpenTarget.of(body, gap.apply(body.model))
    oracle = Oracle(policy, task.source(), target, make_metric(metric, task, policy, stream(seed, "cost-to-go")))
    zero = _run(task, Gap(), ZeroPolicy(body.spec.action_size), episodes, seed).score
    expert = _run(task, Gap(), policy, episodes, seed).score
    if not expert > zero:
        raise Problem(f"the policy scores {expert:g} in its own simulator, no better than doing nothing ({zero:g})")
    scale = Scale(zero, expert)
    tally = _Tally(oracle)
    reached = evaluate(task, task.target(gap, episodes), oracle, 1, stream(seed, "evaluate"), watch=tally)
    errors = np.sqrt(np.mean(np.square(np.concatenate(tally.missed)), axis=0))
    limited = np.concatenate(tally.limited)
    beyond = np.concatenate(tally.beyond)
    names: list[str] = [body.spec.observation_names[int(target)] for target in body.spec.targets]
    return Ceiling(
        task=task.name,
        gap=str(gap),
        metric=metric,
        episodes=episodes,
        seed=seed,
        normalised=scale(reached.score),
        standard_error=float(reached.scores.std() / np.sqrt(episodes) / (scale.expert - scale.zero)),
        normalised_unadapted=scale(_run(task, gap, policy, episodes, seed).score),
        limited=float((beyond & limited).mean()),
        unactuated=float((beyond & ~limited).mean()),
        missed={names[i]: float(errors[i]) for i in np.argsort(-errors)},
    )


def _run(task: Task, gap: Gap, policy: Policy, episodes: int, seed: int) -> Evaluation:
    return evaluate(task, task.target(gap, episodes), policy, 1, stream(seed, "evaluate"))


class _Tally:
    """What the oracle missed in the steps of episodes that were still running."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.missed: list[Float] = []
        self.limited: list[Bool] = []
        self.beyond: list[Bool] = []

    def __call__(self, running: Bool) -> None:
        found = self._oracle.latest
        if found is not None:
            missed = found.missed[running]
            self.missed.append(missed)
            self.limited.append(found.limited[running])
            self.beyond.append(np.abs(missed).max(axis=1) > TOLERANCE)
