"""What of a model is the robot: the bodies and joints that its actuators can move."""

from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Bool, Float, Int, stream
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


Joints = Callable[[Float], tuple[Float, Float]]
"""From observations (n, obs) to the positions and velocities of each actuator's joint, each (n, act)."""


def joints_of(robot_model: RobotModel) -> Joints | None:
    """Positions and velocities of each actuator's joint; None for a robot whose actuators drive something else."""
    model = robot_model.model
    if not (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT.value).all():
        return None
    driven = model.actuator_trnid[:, 0]
    positions, velocities = model.jnt_qposadr[driven], model.jnt_dofadr[driven]

    def joints(observations: Float) -> tuple[Float, Float]:
        qpos, qvel = np.zeros((len(observations), model.nq)), np.zeros((len(observations), model.nv))
        robot_model.restore(observations, qpos, qvel)
        return qpos[:, positions], qvel[:, velocities]

    return joints


def actuated_dofs(model: mujoco.MjModel) -> Int:
    """Degrees of freedom that an actuator acts on, each once."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ends = zip(data.moment_rowadr, data.moment_rownnz, strict=True)
    columns = [data.moment_colind[first : first + count] for first, count in ends]
    return np.unique(np.concatenate(columns)).astype(np.int64) if columns else np.empty(0, np.int64)


def base_joints(model: mujoco.MjModel) -> Int:
    """The joints by which a floating base moves: nothing drives them, and they carry all that is driven."""
    driven = actuated_dofs(model)
    above = [_ancestors(model, int(body)) for body in np.unique(model.dof_bodyid[driven])]
    carrying = {body for one in above for body in one if all(body in other for other in above if one[-1] == other[-1])}
    idle = np.isin(np.arange(model.njnt), model.dof_jntid[driven], invert=True)
    return np.flatnonzero(idle & np.isin(model.jnt_bodyid, list(carrying))).astype(np.int64)


def _ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    """The body and those that carry it, up to the root of its robot."""
    found = [body]
    while (parent := int(model.body_parentid[found[-1]])) > 0:
        found.append(parent)
    return found


def in_robot(model: mujoco.MjModel) -> Bool:
    """Which bodies (nbody,) hang together with an actuated joint; a mark to be reached, or a ball, does not."""
    roots = np.unique(model.body_rootid[model.dof_bodyid[actuated_dofs(model)]])
    return np.isin(model.body_rootid, roots) & (np.arange(model.nbody) > 0)


def robot_bodies(model: mujoco.MjModel) -> list[str]:
    """The names of the robot's bodies."""
    names = [model.body(body).name for body in np.flatnonzero(in_robot(model))]
    return [name for name in names if name]


def bodies_of(model: mujoco.MjModel, body: str) -> Int:
    """The index of one body, or of all the robot's when none is named."""
    return np.array([model.body(body).id]) if body else np.flatnonzero(in_robot(model))
