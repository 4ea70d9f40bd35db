"""The side that is known, as methods see it."""

from isthmus.adapt import Source
from isthmus.core import AnyPolicy
from isthmus.tasks import Task
from isthmus.transfer.source.cost import source_cost
from isthmus.transfer.source.finetuner import finetuner_in, robust_for
from isthmus.transfer.source.rehearsal import rehearsal_in

WORLDS = 16
"""Simulations side by side, where a method looks at many."""


def make_source(task: Task, policy: AnyPolicy, seed: int) -> Source:
    """What methods know of the task, the policy for it, and the simulator that it was made in."""
    return Source(
        policy=policy,
        simulator=task.source(),
        unclamped=task.unclamped(WORLDS),
        spec=task.robot_model.spec,
        seed=seed,
        cost=source_cost(task),
        finetuner=finetuner_in(task),
        robust=robust_for(task),
        rehearsal=rehearsal_in(task, policy, seed),
        robot_model=task.robot_model,
    )
