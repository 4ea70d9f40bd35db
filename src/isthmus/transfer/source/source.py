"""The side that is known, as methods are told of it."""

from isthmus.adapt import Source
from isthmus.core import Policy, stream
from isthmus.sim.unactuated import unactuated_targets
from isthmus.sysid import Physics
from isthmus.tasks import Task
from isthmus.tasks.sim_derived import shown_in_simulation
from isthmus.transfer.source.cost import source_cost
from isthmus.transfer.source.finetuner import practice_in, robust_for
from isthmus.transfer.source.joints import joints_of
from isthmus.transfer.source.rehearsal import rehearsal_in

WORLDS = 16
"""Simulations side by side, where a method looks at many."""


def make_source(task: Task, policy: Policy, seed: int) -> Source:
    """What methods are told of the task, the policy for it, and the simulator that it was made in."""
    return Source(
        policy=policy,
        simulator=task.source(),
        unlimited=task.unlimited(WORLDS),
        spec=task.embodiment.spec,
        seed=seed,
        cost=source_cost(task),
        joints=joints_of(task),
        practice=practice_in(task),
        robust=robust_for(task),
        physics=Physics(task.embodiment),
        rehearsal=rehearsal_in(task, policy, seed),
        unactuated=unactuated_targets(task.embodiment),
        shown=shown_in_simulation(task, policy, stream(seed, "shown")),
    )
