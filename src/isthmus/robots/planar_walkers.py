"""Hopper, a planar leg, and Walker2d, a planar biped.

The observation has all positions and velocities, unclipped: a clipped velocity could not be put back into the
simulator. The policy sees what Gymnasium shows it: no root x, and velocities clipped to 10.
"""

from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Bool
from isthmus.policies import View
from isthmus.robots.assets import gymnasium_spec
from isthmus.robots.locomotion import clipped_speeds, forward_pay, forward_position, near_rest, walker, with_effort
from isthmus.sim import Fields
from isthmus.tasks.task import Task


def make_half_cheetah(*, model: mujoco.MjModel | None = None) -> Task:
    """HalfCheetah as in Gymnasium; a compiled `model`, as from a bundle, takes the place of Gymnasium's file."""
    model = model or _half_cheetah_model()
    body = walker(model, frame_skip=5, unseen=1, start=near_rest(model, 0.1, normal_speeds=True))
    score = forward_pay(body.spec.control_period, alive=0.0)
    return Task(
        name="half-cheetah",
        gym_id="HalfCheetah-v4",
        robot_model=body,
        measure=forward_position,
        reward=with_effort(score, 0.1),
        score=score,
        views=(View("v4 or v5", 17),),
        camera={"lookat": (0.0, 0.0, 0.5), "distance": (4.0,), "azimuth": (90.0,), "elevation": (-10.0,)},
    )


def half_cheetah_spec() -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled. Its masses are not yet scaled to the total that the file asks for."""
    spec = gymnasium_spec("half_cheetah.xml")
    spec.compiler.settotalmass = -1
    return spec


def _half_cheetah_model() -> mujoco.MjModel:
    """The file asks for a total mass in a way that MuJoCo is about to drop: do it in the way it recommends."""
    model = half_cheetah_spec().compile()
    mujoco.mj_setTotalmass(model, gymnasium_spec("half_cheetah.xml").compiler.settotalmass)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def hopper_spec() -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled."""
    return gymnasium_spec("hopper.xml")


def make_hopper(*, model: mujoco.MjModel | None = None) -> Task:
    """Hopper as in Gymnasium; a compiled `model`, as from a bundle, takes the place of Gymnasium's file."""
    model = model or hopper_spec().compile()
    return _planar_walker("hopper", "Hopper-v4", model, _hopper_ended, camera_height=1.0)


def walker2d_spec() -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled."""
    return gymnasium_spec("walker2d.xml")


def make_walker2d(*, model: mujoco.MjModel | None = None) -> Task:
    """Walker2d as in Gymnasium's v4; in v5 the right foot grips better.

    A compiled `model`, as from a bundle, takes the place of Gymnasium's file.
    """
    model = model or walker2d_spec().compile()
    return _planar_walker("walker2d", "Walker2d-v4", model, _walker2d_ended, camera_height=1.1)


def _planar_walker(
    name: str, gym_id: str, model: mujoco.MjModel, ended: Callable[[Fields], Bool], camera_height: float
) -> Task:
    body = walker(
        model,
        frame_skip=4,
        unseen=0,
        start=near_rest(model, 5e-3),
        ended=ended,
        targets=np.arange(1, model.nq + model.nv),  # where it is makes no difference
    )
    score = forward_pay(body.spec.control_period, alive=1.0)
    seen = clipped_speeds(unseen=1, positions=model.nq - 1)
    return Task(
        name=name,
        gym_id=gym_id,
        robot_model=body,
        measure=forward_position,
        reward=with_effort(score, 1e-3),
        score=score,
        views=(View("v4 or v5", model.nq - 1 + model.nv, seen),),
        camera={"lookat": (0.0, 0.0, camera_height), "distance": (4.0,), "azimuth": (90.0,), "elevation": (-8.0,)},
    )


def _hopper_ended(fields: Fields) -> Bool:
    qpos, qvel = fields["qpos"], fields["qvel"]
    upright = (qpos[:, 1] > 0.7) & (np.abs(qpos[:, 2]) < 0.2)
    return ~(upright & (np.abs(qpos[:, 2:]) < 100).all(axis=1) & (np.abs(qvel) < 100).all(axis=1))


def _walker2d_ended(fields: Fields) -> Bool:
    height, pitch = fields["qpos"][:, 1], fields["qpos"][:, 2]
    return ~((height > 0.8) & (height < 2.0) & (np.abs(pitch) < 1.0))
