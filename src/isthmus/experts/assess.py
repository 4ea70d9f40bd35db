"""The figures an expert is known by."""

from typing import Any

import numpy as np

from isthmus.core import AnyPolicy, Problem
from isthmus.evaluate import evaluate
from isthmus.experts.conditioned import ConditionedWorlds, Told
from isthmus.experts.randomised import RandomisedWorlds
from isthmus.gaps import Gap, Ranges
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.sim import MujocoWorld
from isthmus.tasks import Task


def assess(task: Task, policy: AnyPolicy, gap: Gap, episodes: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return on Gym's own reward, score without torque penalty, and the share of full-length episodes."""
    if episodes < 1:
        raise Problem(f"episodes must be at least 1, got {episodes}")
    return _figures(task, policy, task.target(gap, episodes), rng)


def assess_randomised(
    task: Task, policy: AnyPolicy, ranges: Ranges, episodes: int, rng: np.random.Generator
) -> dict[str, Any]:
    """The same figures, over episodes whose dynamics all differ; a policy that can be told them is told them."""
    worlds = RandomisedWorlds(task, episodes, ranges)
    if isinstance(policy, ConditionedPolicy):
        telling = ConditionedWorlds(worlds, Told.of(task, ranges))
        world = telling.drawn(rng)
        return _figures(task, policy.among(telling.z), world, rng)
    return _figures(task, policy, worlds.drawn(rng), rng)


def _figures(task: Task, policy: AnyPolicy, world: MujocoWorld, rng: np.random.Generator) -> dict[str, Any]:
    outcome = evaluate(task, world, policy, 1, rng)
    return {
        "gym_return": {"mean": float(outcome.returns.mean()), "std": float(outcome.returns.std())},
        "score": {"mean": outcome.score, "std": float(outcome.scores.std())},
        "full_length": float((outcome.lengths == task.robot_model.spec.horizon).mean()),
    }
