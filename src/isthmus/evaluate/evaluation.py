"""How well a policy does a task, over many episodes at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.core import AnyPolicy, Bool, Float, Int, World, rollout
from isthmus.evaluate.effort import Effort, EffortMeter
from isthmus.sim import Fields
from isthmus.tasks import Task


@dataclass(frozen=True)
class Scale:
    """(score - s0) / (s_expert - s0), for every task."""

    zero: float
    """Score of the zero action in the source simulator."""
    expert: float
    """Score of the expert in the source simulator."""

    def __post_init__(self) -> None:
        """Refuse a scale of no length."""
        if not self.expert > self.zero:
            raise ValueError(f"the expert scores {self.expert:g}, no better than doing nothing ({self.zero:g})")

    def __call__(self, score: float) -> float:
        """A score as a share of the expert's."""
        return (score - self.zero) / (self.expert - self.zero)

    def score(self, share: float) -> float:
        """The score that is such a share of the expert's."""
        return self.zero + share * (self.expert - self.zero)


@dataclass(frozen=True)
class Evaluation:
    """The outcome of n episodes."""

    scores: Float
    """Gym's reward without its torque penalty, summed over each episode (n,)."""
    returns: Float
    """Gym's own reward, summed over each episode (n,)."""
    lengths: Int
    """Steps until each episode ended (n,)."""
    effort: Effort
    """How hard the actuators worked."""

    @property
    def score(self) -> float:
        """The mean score."""
        return float(self.scores.mean())


class Scorable(World, Protocol):
    """A simulation that a score can be read from."""

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields."""
        ...


def evaluate(
    task: Task,
    world: Scorable,
    policy: AnyPolicy,
    history: int,
    rng: np.random.Generator,
    watch: Callable[[Bool], None] | None = None,
) -> Evaluation:
    """Run one episode in each of the world's simulations; `rng` draws where they start.

    `watch` hears after every command which episodes (n,) it was for: the others have ended.
    """
    scores, returns, lengths = np.zeros(world.n), np.zeros(world.n), np.zeros(world.n, np.int64)
    start, meter = world.reset(rng), EffortMeter(world.spec, world.n)
    before = task.measure(world.fields).copy()
    for moment in rollout(world, policy, start, history=history):
        running, applied, after = moment.running, moment.step.applied, task.measure(world.fields).copy()
        scores += running * task.score(before, applied, after)
        returns += running * task.step_reward(before, applied, after)
        lengths += running
        meter.add(applied, running)
        before = after
        if watch is not None:
            watch(running)
    return Evaluation(scores, returns, lengths, meter.effort)
