"""Find what an observation tells twice: numbers that follow from the state, and that a simulator works out itself."""

from collections.abc import Callable

import numpy as np

from isthmus.core import AnyPolicy, Float, Int, rollout
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.sim import MujocoWorld, RobotModel

WORLDS, STEPS = 8, 100
CLOSE = 0.05
"""Share of its standard deviation to which the simulator works a number out that follows from the state."""


def sim_derived_policy(
    robot_model: RobotModel, policy: AnyPolicy, rng: np.random.Generator, known: Int | None = None
) -> Callable[[AnyPolicy], AnyPolicy]:
    """Wraps policies to see derived numbers as the simulator has them.

    These are found while `policy` acts, unless their dimensions are `known`.
    """
    derived = _derived(robot_model, policy, rng) if known is None else known
    simulator = MujocoWorld(robot_model)
    return lambda one: SimDerivedPolicy(one, simulator.show, derived) if len(derived) else one


def _derived(robot_model: RobotModel, policy: AnyPolicy, rng: np.random.Generator) -> Int:
    """Dimensions that are no targets, and that the simulator works out from the state as they are seen.

    What it reads back as it was given is part of the state, and nothing to work out.
    """
    spec = robot_model.spec
    others = np.setdiff1d(np.arange(spec.observation_size), spec.targets)
    if not len(others):
        return others
    world, simulator = MujocoWorld(robot_model, WORLDS), MujocoWorld(robot_model)
    recorded, simulated, steps = list[Float](), list[Float](), min(STEPS, spec.horizon)
    for moment in rollout(world, policy, world.reset(rng), steps=steps, explore=spec.clip):
        goes_on, seen = ~moment.step.ended, moment.step.observations
        recorded.append(seen[goes_on][:, others])
        simulated.append(simulator.show(seen)[goes_on][:, others])
    observed, found = np.concatenate(recorded), np.concatenate(simulated)
    if not len(observed):
        return others[:0]
    error, constant = np.sqrt(np.square(found - observed).mean(axis=0)), np.ptp(observed, axis=0) == 0
    return others[(error <= CLOSE * observed.std(axis=0)) & ((error > 0) | constant)]
