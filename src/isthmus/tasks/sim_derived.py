"""Find what an observation tells twice: numbers that follow from the state, and that a simulator works out itself."""

from collections.abc import Callable

import numpy as np

from isthmus.core import Float, History, Int, Policy
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.tasks.task import Task

WORLDS, STEPS = 8, 100
CLOSE = 0.05
"""Share of its spread to which the simulator works a number out that follows from the state."""


def sim_derived_policy(task: Task, policy: Policy, rng: np.random.Generator) -> Callable[[Policy], Policy]:
    """What makes a policy see derived numbers as the task's simulator has them; found along the course of `policy`."""
    derived, simulator = _derived(task, policy, rng), task.source()
    return lambda one: SimDerivedPolicy(one, simulator.show, derived) if len(derived) else one


def _derived(task: Task, policy: Policy, rng: np.random.Generator) -> Int:
    """Dimensions that are no targets, and that the simulator works out from the state as they are seen.

    What it reads back as it was given is part of the state, and nothing to work out.
    """
    spec = task.robot_model.spec
    others = np.setdiff1d(np.arange(spec.observation_size), spec.targets)
    if not len(others):
        return others
    world, simulator = task.source(WORLDS), task.source()
    observations, recorded, simulated = world.reset(rng), list[Float](), list[Float]()
    for _ in range(min(STEPS, spec.horizon)):
        step = world.step(spec.clip(policy(History.of(observations))))
        if step.ended.all():
            break
        observations = step.observations
        recorded.append(observations[~step.ended][:, others])
        simulated.append(simulator.show(observations)[~step.ended][:, others])
    if not recorded:
        return others[:0]
    observed, found = np.concatenate(recorded), np.concatenate(simulated)
    error, constant = np.sqrt(np.square(found - observed).mean(axis=0)), np.ptp(observed, axis=0) == 0
    return others[(error <= CLOSE * observed.std(axis=0)) & ((error > 0) | constant)]
