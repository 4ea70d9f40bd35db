"""How a policy moves in the simulator: where it starts, and how much changes in a step."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import AnyPolicy, Float, World
from isthmus.core.rollout import rollout

STEPS, STARTS = 200, 16
"""Steps of each world, and resets, that it is found from."""
LEAST_SHARE, LEAST = 1e-3, 1e-6
"""What changes in a step is at least this share of all that changes, and this."""


@dataclass(frozen=True)
class Course:
    """Statistics of the source."""

    start: Float
    """Mean of the first observation (obs,)."""
    start_covariance: Float  # (obs, obs)
    scale: Float
    """Standard deviation of what changes in a step (obs,)."""
    most: Float
    """Standard deviation along the course (obs,): who knows nothing else is as unsure as that."""


def course_of(policy: AnyPolicy, world: World, rng: np.random.Generator) -> Course:
    """Follow `policy` in the n simulations of `world`."""
    starts = np.concatenate([world.reset(rng) for _ in range(STARTS)])
    before, after = list[Float](), list[Float]()
    for moment in rollout(world, policy, world.reset(rng), steps=min(STEPS, world.spec.horizon)):
        before.append(moment.before[moment.running])
        after.append(moment.step.observations[moment.running])
    now, then = np.concatenate(before), np.concatenate(after)
    scale = np.maximum((then - now).std(axis=0), LEAST_SHARE * now.std(axis=0))
    scale = np.maximum(scale, LEAST)
    mean = starts.mean(axis=0)
    away = starts - mean
    covariance = away.T @ away / len(starts) + np.diag(np.square(LEAST_SHARE * scale))
    most = np.maximum(now.std(axis=0), scale)
    return Course(mean, covariance, scale, most)
