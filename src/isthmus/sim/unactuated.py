"""Which parts of an observation no actuator moves directly: where the root is, how fast it goes."""

import mujoco
import numpy as np

from isthmus.core import Bool, Float, stream
from isthmus.sim.anatomy import actuated_dofs
from isthmus.sim.robot_model import RobotModel

NUDGE = 1e-4
MOVED = 1e-9


def unactuated_targets(body: RobotModel) -> Bool:
    """The targets (d,) that change with degrees of freedom which have no actuator, and with no others."""
    model = body.model
    [qpos], [qvel] = body.start(stream(0, "unactuated"), 1)
    still = _observed(body, qpos, qvel, np.zeros(model.nv))
    nudged = [_observed(body, qpos, qvel, nudge) for nudge in NUDGE * np.eye(model.nv)]
    moves = np.abs(np.stack(nudged) - still)[:, body.spec.targets] > MOVED  # (nv, d)
    actuated = np.isin(np.arange(model.nv), actuated_dofs(model))
    free, driven = (np.asarray(moves[rows].any(axis=0), np.bool_) for rows in (~actuated, actuated))
    return free & ~driven


def _observed(body: RobotModel, qpos: Float, qvel: Float, nudge: Float) -> Float:
    """What is seen (obs,) when every position and velocity is off by `nudge` (nv,)."""
    data = mujoco.MjData(body.model)
    data.qpos[:], data.qvel[:] = qpos, qvel + nudge
    mujoco.mj_integratePos(body.model, data.qpos, nudge, 1.0)
    mujoco.mj_forward(body.model, data)
    fields = {name: np.asarray(getattr(data, name))[None] for name in ("qpos", "qvel", *body.reads)}
    out = np.empty((1, body.spec.observation_size))
    body.observe(fields, out)
    return out[0]
