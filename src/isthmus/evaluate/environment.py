"""How well a policy does in somebody's Gymnasium environment, by the reward that the environment itself pays."""

import copy
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from isthmus.core import AnyPolicy, Lost, rollout
from isthmus.evaluate.effort import EffortMeter
from isthmus.evaluate.evaluation import Evaluation
from isthmus.sim.gymnasium_world import GymnasiumWorld

ATTEMPTS = 3
"""How often an episode is begun anew when the robot had to be held in the middle of it."""
T = TypeVar("T")


def attempted(episode: Callable[[np.random.Generator], T], rng: np.random.Generator) -> T:
    """What comes of an episode that starts where `rng` says; one that is cut short is run again from there."""
    for _ in range(ATTEMPTS - 1):
        before = copy.deepcopy(rng)
        try:
            return episode(rng)
        except Lost:
            rng.bit_generator.state = before.bit_generator.state
    return episode(rng)


def evaluate_environment(
    world: GymnasiumWorld, policy: AnyPolicy, history: int, episodes: int, rng: np.random.Generator
) -> Evaluation:
    """Run episodes one after another; `rng` draws where they start."""

    def episode(rng: np.random.Generator) -> tuple[float, int]:
        paid, length = 0.0, 0
        meter.begin()
        for moment in rollout(world, policy, world.reset(rng), history=history):
            paid, length = paid + world.reward, length + 1
            meter.add(moment.step.applied, moment.running)
        return paid, length

    meter = EffortMeter(world.spec, world.n)
    outcomes = [attempted(episode, rng) for _ in range(episodes)]
    returns = np.array([paid for paid, _ in outcomes])
    lengths = np.array([length for _, length in outcomes], np.int64)
    return Evaluation(returns, returns, lengths, meter.effort)
