"""How well a policy does a task, over many episodes at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.core import Bool, Float, HistoryBuffer, Int, Policy, World
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
    policy: Policy,
    history: int,
    rng: np.random.Generator,
    watch: Callable[[Bool], None] | None = None,
) -> Evaluation:
    """Run one episode in each of the world's simulations; `rng` draws where they start.

    `watch` is told after every command which episodes (n,) it was for: the others have ended.
    """
    spec = world.spec
    buffer = HistoryBuffer(spec, world.n, history)
    buffer.begin(world.reset(rng))
    scores, returns, lengths = np.zeros(world.n), np.zeros(world.n), np.zeros(world.n, np.int64)
    running = np.ones(world.n, np.bool_)
    before = task.measure(world.fields).copy()
    for _ in range(spec.horizon):
        commands = policy(buffer.window)
        if watch is not None:
            watch(running)
        step = world.step(commands)
        after = task.measure(world.fields).copy()
        scores += running * task.score(before, step.applied, after)
        returns += running * task.step_reward(before, step.applied, after)
        lengths += running
        running = ~step.ended
        if not running.any():
            break
        buffer.append(step.applied, step.observations)
        before = after
    return Evaluation(scores, returns, lengths)
