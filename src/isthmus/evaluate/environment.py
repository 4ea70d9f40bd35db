"""How well a policy does in somebody's Gymnasium environment, by the reward that the environment itself pays."""

import numpy as np

from isthmus.core import HistoryBuffer, Policy
from isthmus.evaluate.evaluation import Evaluation
from isthmus.worlds.gymnasium_world import GymnasiumWorld


def evaluate_environment(
    world: GymnasiumWorld, policy: Policy, history: int, episodes: int, rng: np.random.Generator
) -> Evaluation:
    """Run episodes one after another; `rng` draws where they start."""
    returns, lengths = np.zeros(episodes), np.zeros(episodes, np.int64)
    buffer = HistoryBuffer(world.spec, 1, history)
    for episode in range(episodes):
        buffer.begin(world.reset(rng))
        for _ in range(world.spec.horizon):
            step = world.step(policy(buffer.window))
            returns[episode] += world.reward
            lengths[episode] += 1
            if step.ended[0]:
                break
            buffer.append(step.applied, step.observations)
    return Evaluation(scores=returns, returns=returns, lengths=lengths)
