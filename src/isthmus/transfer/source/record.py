"""Make a reference of a policy: its observations are kept, its actions are not."""

import numpy as np

from isthmus.adapt.common.reference import SHORTEST, Reference
from isthmus.core import AnyPolicy, Float, Problem, rollout, stream
from isthmus.gaps import Gap
from isthmus.tasks import Task

MOST_EPISODES = 1000


def record_reference(task: Task, policy: AnyPolicy, gap: Gap, episodes: int, seed: int) -> Reference:
    """What is seen in so many episodes of `policy`, each until it ends.

    A task that is judged by other motions than it is trained on has so many of both: it is to follow either.
    """
    kinds = (task,) if task.judged is None else (task, task.trial)
    tracks = [track for kind in kinds for track in _recorded(kind, policy, gap, episodes, seed)]
    kept = tuple(track for track in tracks if len(track) >= SHORTEST)
    if not kept:
        raise Problem(f"every episode ended within {SHORTEST - 1} steps: there is nothing to follow")
    return Reference(kept)


def _recorded(task: Task, policy: AnyPolicy, gap: Gap, episodes: int, seed: int) -> list[Float]:
    """The observations (T + 1, obs) of each episode."""
    world = task.target(gap, episodes)
    start = world.reset(stream(seed, "record"))
    moments = list(rollout(world, policy, start))
    seen = np.stack([start, *(moment.step.observations for moment in moments)], axis=1)
    steps = np.stack([moment.running for moment in moments]).sum(axis=0)
    return [track[: length + 1] for track, length in zip(seen, steps, strict=True)]
