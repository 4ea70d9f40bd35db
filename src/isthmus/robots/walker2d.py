"""Walker2d: a planar biped. As with Hopper, the observation has all positions and velocities, unclipped."""

import numpy as np

from isthmus.core import Bool
from isthmus.policies import View
from isthmus.robots.assets import gymnasium_spec
from isthmus.robots.locomotion import clipped_speeds, forward_pay, forward_position, near_rest, walker, with_effort
from isthmus.sim import Fields
from isthmus.tasks.task import Task

LOWEST, HIGHEST, STEEPEST = 0.8, 2.0, 1.0


def make_walker2d() -> Task:
    """Walker2d as in Gymnasium's v4; in v5 the right foot grips better."""
    model = gymnasium_spec("walker2d.xml").compile()
    body = walker(
        model,
        frame_skip=4,
        unseen=0,
        start=near_rest(model, 5e-3),
        ended=_fallen,
        targets=np.arange(1, model.nq + model.nv),
    )
    score = forward_pay(body.spec.control_period, alive=1.0)
    return Task(
        name="walker2d",
        gym_id="Walker2d-v4",
        robot_model=body,
        measure=forward_position,
        reward=with_effort(score, 1e-3),
        score=score,
        views=(View("v4 or v5", 17, clipped_speeds(unseen=1, positions=8)),),
        camera={"lookat": (0.0, 0.0, 1.1), "distance": (4.0,), "azimuth": (90.0,), "elevation": (-8.0,)},
    )


def _fallen(fields: Fields) -> Bool:
    height, pitch = fields["qpos"][:, 1], fields["qpos"][:, 2]
    return ~((height > LOWEST) & (height < HIGHEST) & (np.abs(pitch) < STEEPEST))
