"""HalfCheetah: a planar two-legged runner. Its 17 numbers are all positions but root x, and all velocities."""

import mujoco
import numpy as np

from isthmus.core import Float, WorldSpec
from isthmus.tasks.assets import gymnasium_spec
from isthmus.tasks.codec import joint_names, observe_state, restore_state, squared_effort
from isthmus.tasks.task import Task
from isthmus.worlds import Embodiment

FRAME_SKIP, START_NOISE, EFFORT_COST = 5, 0.1, 0.1


def make_half_cheetah() -> Task:
    """HalfCheetah as in Gymnasium."""
    model = _model()
    joints = joint_names(model)
    period = float(model.opt.timestep) * FRAME_SKIP

    def start(rng: np.random.Generator, n: int) -> tuple[Float, Float]:
        qpos = model.qpos0 + rng.uniform(-START_NOISE, START_NOISE, (n, model.nq))
        return qpos, START_NOISE * rng.standard_normal((n, model.nv))

    def score(before: Float, _commands: Float, after: Float) -> Float:
        return (after[:, 0] - before[:, 0]) / period

    return Task(
        name="half-cheetah",
        gym_id="HalfCheetah-v4",
        embodiment=Embodiment(
            model=model,
            frame_skip=FRAME_SKIP,
            spec=WorldSpec(
                observation_names=(*joints[1:], *(f"{name} velocity" for name in joints)),
                action_names=tuple(joints[3:]),
                action_low=model.actuator_ctrlrange[:, 0].copy(),
                action_high=model.actuator_ctrlrange[:, 1].copy(),
                control_period=period,
                horizon=1000,
                targets=np.arange(model.nq + model.nv - 1),
            ),
            reads=(),
            observe=observe_state(skip=1),
            restore=restore_state(skip=1),
            start=start,
        ),
        measure=lambda fields: fields["qpos"][:, :1],
        reward=lambda before, commands, after: score(before, commands, after) - EFFORT_COST * squared_effort(commands),
        score=score,
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
