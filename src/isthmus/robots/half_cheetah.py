"""HalfCheetah: a planar two-legged runner. Its 17 numbers are all positions but root x, and all velocities."""

import mujoco

from isthmus.policies import View
from isthmus.robots.assets import gymnasium_spec
from isthmus.robots.locomotion import forward_pay, forward_position, near_rest, walker, with_effort
from isthmus.tasks.task import Task


def make_half_cheetah() -> Task:
    """HalfCheetah as in Gymnasium."""
    model = _model()
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


def _model() -> mujoco.MjModel:
    """The file asks for a total mass in a way that MuJoCo is about to drop: do it in the way it recommends."""
    spec = gymnasium_spec("half_cheetah.xml")
    total = spec.compiler.settotalmass
    spec.compiler.settotalmass = -1
    model = spec.compile()
    mujoco.mj_setTotalmass(model, total)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model
