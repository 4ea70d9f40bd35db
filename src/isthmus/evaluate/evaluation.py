"""How well a policy does a task, over many episodes at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.core import AnyPolicy, Bool, Float, Int, World, rollout
from isthmus.sim import Fields
from isthmus.tasks import Task


@dataclass(frozen=True)
class Evaluation:
    """The outcome of n episodes."""

    scores: Float
    """Gym's reward without its torque penalty, summed over each episode (n,)."""
    returns: Float
    """Gym's own reward, summed over each episode (n,)."""
    lengths: Int
    """Steps until each episode ended (n,)."""

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
    start = world.reset(rng)
    before = task.measure(world.fields).copy()
    for moment in rollout(world, policy, start, history=history):
        running, applied, after = moment.running, moment.step.applied, task.measure(world.fields).copy()
        scores += running * task.score(before, applied, after)
        returns += running * task.step_reward(before, applied, after)
        lengths += running
        before = after
        if watch is not None:
            watch(running)
    return Evaluation(scores, returns, lengths)
