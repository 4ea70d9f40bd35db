"""The figures an expert is known by."""

from typing import Any

import numpy as np

from isthmus.core import Policy, Problem
from isthmus.evaluate import evaluate
from isthmus.gaps import Gap
from isthmus.tasks import Task


def assess(task: Task, policy: Policy, gap: Gap, episodes: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return on Gym's own reward, score without torque penalty, and the share of full-length episodes."""
    if episodes < 1:
        raise Problem(f"episodes must be at least 1, got {episodes}")
    outcome = evaluate(task, task.target(gap, episodes), policy, 1, rng)
    return {
        "gym_return": {"mean": float(outcome.returns.mean()), "std": float(outcome.returns.std())},
        "score": {"mean": outcome.score, "std": float(outcome.scores.std())},
        "full_length": float((outcome.lengths == task.embodiment.spec.horizon).mean()),
    }
