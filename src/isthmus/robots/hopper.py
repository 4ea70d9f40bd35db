"""Hopper: a planar leg that moves forward by hopping.

The observation has all 12 positions and velocities, unclipped: a clipped velocity could not be put back into the
simulator. The policy sees what Gymnasium shows it: no root x, and velocities clipped to 10.
"""

import numpy as np

from isthmus.core import Bool
from isthmus.policies import View
from isthmus.robots.assets import gymnasium_spec
from isthmus.robots.locomotion import clipped_speeds, forward_pay, forward_position, near_rest, walker, with_effort
from isthmus.sim import Fields
from isthmus.tasks.task import Task

LOWEST, STEEPEST, WILDEST = 0.7, 0.2, 100.0


def make_hopper() -> Task:
    """Hopper as in Gymnasium."""
    model = gymnasium_spec("hopper.xml").compile()
    body = walker(
        model,
        frame_skip=4,
        unseen=0,
        start=near_rest(model, 5e-3),
        ended=_fallen,
        targets=np.arange(1, model.nq + model.nv),  # where it is makes no difference
    )
    score = forward_pay(body.spec.control_period, alive=1.0)
    return Task(
        name="hopper",
        gym_id="Hopper-v4",
        robot_model=body,
        measure=forward_position,
        reward=with_effort(score, 1e-3),
        score=score,
        views=(View("v4 or v5", 11, clipped_speeds(unseen=1, positions=5)),),
        camera={"lookat": (0.0, 0.0, 1.0), "distance": (4.0,), "azimuth": (90.0,), "elevation": (-8.0,)},
    )


def _fallen(fields: Fields) -> Bool:
    qpos, qvel = fields["qpos"], fields["qvel"]
    healthy = (qpos[:, 1] > LOWEST) & (np.abs(qpos[:, 2]) < STEEPEST)
    return ~(healthy & (np.abs(qpos[:, 2:]) < WILDEST).all(axis=1) & (np.abs(qvel) < WILDEST).all(axis=1))
