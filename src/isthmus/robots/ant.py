"""Ant: a four-legged walker. Its 27 numbers are all positions but x and y, and all velocities (the v4 layout)."""

import mujoco

from isthmus.core import Bool, Float
from isthmus.policies import View
from isthmus.policies.view import with_zeros
from isthmus.robots.assets import gymnasium_spec
from isthmus.robots.locomotion import forward_pay, near_rest, walker, with_effort
from isthmus.sim import Fields
from isthmus.tasks.task import Task

LOWEST, HIGHEST = 0.2, 1.0
CONTACT_FORCES = 84
"""Six for each of 14 bodies: versions 2 and 3 show them, but with MuJoCo 2.0 and later they are all zero there."""


def ant_spec() -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled."""
    return gymnasium_spec("ant.xml")


def make_ant(*, model: mujoco.MjModel | None = None) -> Task:
    """Ant as in Gymnasium's v4; a compiled `model`, as from a bundle, takes the place of Gymnasium's file."""
    model = model or ant_spec().compile()
    torso = model.body("torso").id
    body = walker(
        model,
        frame_skip=5,
        unseen=2,
        start=near_rest(model, 0.1, normal_speeds=True),
        ended=_fallen,
        reads=("xpos",),
    )

    def forward_of_torso(fields: Fields) -> Float:
        return fields["xpos"][:, torso, :1]

    score = forward_pay(body.spec.control_period, alive=1.0)
    return Task(
        name="ant",
        gym_id="Ant-v4",
        robot_model=body,
        measure=forward_of_torso,
        reward=with_effort(score, 0.5),
        score=score,
        views=(
            View("v4", 27),
            View("v2 or v3", 27 + CONTACT_FORCES, with_zeros(CONTACT_FORCES)),
            View("v5", 105, lacks="contact forces of every body but the world"),
        ),
        camera={"lookat": (0.0, 0.0, 0.4), "distance": (4.5,), "azimuth": (130.0,), "elevation": (-20.0,)},
    )


def _fallen(fields: Fields) -> Bool:
    height = fields["qpos"][:, 2]
    return ~((height >= LOWEST) & (height <= HIGHEST))
