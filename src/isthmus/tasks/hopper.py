"""Hopper: a planar leg that moves forward by hopping.

The observation has all 12 positions and velocities, unclipped: a clipped velocity could not be put back into the
simulator. The policy sees what Gymnasium shows it: no root x, and velocities clipped to 10.
"""

import numpy as np

from isthmus.core import Bool, Float, WorldSpec
from isthmus.tasks.assets import gymnasium_spec
from isthmus.tasks.codec import joint_names, observe_state, restore_state, squared_effort
from isthmus.tasks.task import Task
from isthmus.worlds import Embodiment, Fields

FRAME_SKIP, START_NOISE = 4, 5e-3
LOWEST, STEEPEST, WILDEST = 0.7, 0.2, 100.0
FASTEST_SEEN = 10.0
EFFORT_COST = 1e-3


def make_hopper() -> Task:
    """Hopper as in Gymnasium."""
    model = gymnasium_spec("hopper.xml").compile()
    joints = joint_names(model)
    period = float(model.opt.timestep) * FRAME_SKIP

    def start(rng: np.random.Generator, n: int) -> tuple[Float, Float]:
        qpos = model.qpos0 + rng.uniform(-START_NOISE, START_NOISE, (n, model.nq))
        return qpos, rng.uniform(-START_NOISE, START_NOISE, (n, model.nv))

    def score(before: Float, _commands: Float, after: Float) -> Float:
        return (after[:, 0] - before[:, 0]) / period + 1.0

    return Task(
        name="hopper",
        gym_id="Hopper-v4",
        embodiment=Embodiment(
            model=model,
            frame_skip=FRAME_SKIP,
            spec=WorldSpec(
                observation_names=(*joints, *(f"{name} velocity" for name in joints)),
                action_names=("thigh", "leg", "foot"),
                action_low=model.actuator_ctrlrange[:, 0].copy(),
                action_high=model.actuator_ctrlrange[:, 1].copy(),
                control_period=period,
                horizon=1000,
                targets=np.arange(1, model.nq + model.nv),
            ),
            reads=(),
            observe=observe_state(skip=0),
            restore=restore_state(skip=0),
            start=start,
            ended=_fallen,
        ),
        measure=lambda fields: fields["qpos"][:, :1],
        reward=lambda before, commands, after: score(before, commands, after) - EFFORT_COST * squared_effort(commands),
        score=score,
        view=_seen_by_policy,
        camera={"lookat": (0.0, 0.0, 1.0), "distance": (4.0,), "azimuth": (90.0,), "elevation": (-8.0,)},
    )


def _fallen(fields: Fields) -> Bool:
    qpos, qvel = fields["qpos"], fields["qvel"]
    healthy = (qpos[:, 1] > LOWEST) & (np.abs(qpos[:, 2]) < STEEPEST)
    return ~(healthy & (np.abs(qpos[:, 2:]) < WILDEST).all(axis=1) & (np.abs(qvel) < WILDEST).all(axis=1))


def _seen_by_policy(observations: Float) -> Float:
    seen = observations[:, 1:].copy()
    velocities = seen[:, 5:]
    np.maximum(velocities, -FASTEST_SEEN, out=velocities)
    np.minimum(velocities, FASTEST_SEEN, out=velocities)
    return seen
