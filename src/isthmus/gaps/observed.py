"""Which numbers of an observation are what: found by observing states that differ in one thing only."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Bool, Float, Int, Problem, stream
from isthmus.sim import RobotModel
from isthmus.sim.anatomy import actuated_dofs, in_robot

PROBES = 6
"""Random states in which an observed number has to be the same as a number of the state to be taken for it."""
NUDGE, MOVED, SAME = 1e-4, 1e-9, 1e-9
FREE, SLIDE = mujoco.mjtJoint.mjJNT_FREE.value, mujoco.mjtJoint.mjJNT_SLIDE.value


@dataclass(frozen=True)
class ImuColumns:
    """Where an observation has what an IMU on the base measures."""

    vectors: tuple[Int, ...]
    """Angular velocity and direction of gravity in the base's frame, three columns each."""
    orientations: tuple[Int, ...]
    """Orientation quaternions of the base, w first, four columns each."""


def free_base(model: mujoco.MjModel) -> int | None:
    """The joint by which the robot's base moves freely; None where it has none."""
    robot = in_robot(model)
    free = [j for j in range(model.njnt) if model.jnt_type[j] == FREE and robot[model.jnt_bodyid[j]]]
    return free[0] if free else None


def base_translations(model: mujoco.MjModel) -> Int:
    """Degrees of freedom that move the robot's base without turning it, and that nothing drives."""
    robot, driven, found = in_robot(model), set(actuated_dofs(model).tolist()), list[int]()
    for joint in range(model.njnt):
        dof, kind = int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
        if robot[model.jnt_bodyid[joint]] and dof not in driven:
            found += range(dof, dof + 3) if kind == FREE else [dof] if kind == SLIDE else []
    return np.array(found, np.int64)


def velocity_columns(body: RobotModel) -> Int:
    """Columns of an observation that change with a velocity of the robot."""
    dofs = np.arange(body.model.nv)
    return _sensed(body, _changes(body, dofs, positions=False))


def base_columns(body: RobotModel) -> Int:
    """Columns of an observation that change with the position or the linear velocity of the base."""
    dofs = base_translations(body.model)
    return _sensed(body, _changes(body, dofs, positions=True) | _changes(body, dofs, positions=False))


def at_rest(body: RobotModel) -> Float:
    """What is observed (obs,) in the model's reference pose at rest."""
    return observed(body, body.model.qpos0, np.zeros(body.model.nv))


def imu_columns(body: RobotModel) -> ImuColumns:
    """Where the observation has angular velocity, direction of gravity and orientation of a free base."""
    joint = free_base(body.model)
    if joint is None:
        raise Problem("this robot has no IMU: its base is not free to turn")
    q, v = int(body.model.jnt_qposadr[joint]) + 3, int(body.model.jnt_dofadr[joint]) + 3
    rng, rows = stream(0, "gap", "imu"), list[tuple[Float, Float, Float, Float]]()
    for _ in range(PROBES):
        [qpos], [qvel] = body.start(rng, 1)
        turn = rng.standard_normal(4)
        qpos, qvel = qpos.copy(), qvel.copy()
        qpos[q : q + 4], qvel[v : v + 3] = turn / np.linalg.norm(turn), rng.standard_normal(3)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, qpos[q : q + 4])
        rows.append((observed(body, qpos, qvel), qpos[q : q + 4].copy(), qvel[v : v + 3].copy(), rotation[6:].copy()))
    seen, turns, spins, upward = (np.stack(one) for one in zip(*rows, strict=True))
    orientations = [found for found in [_found(seen, turns)] if found is not None]
    vectors = [found for one in (spins, upward, -upward) if (found := _found(seen, one)) is not None]
    if not vectors and not orientations:
        raise Problem(
            "this robot shows nothing of an IMU: its observation has neither the angular velocity of the base in its "
            "own frame, nor the direction of gravity, nor the base's orientation as a quaternion"
        )
    return ImuColumns(tuple(vectors), tuple(orientations))


def observed(body: RobotModel, qpos: Float, qvel: Float) -> Float:
    """What is observed (obs,) in a state."""
    data = mujoco.MjData(body.model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(body.model, data)
    fields = {name: np.asarray(getattr(data, name))[None] for name in ("qpos", "qvel", *body.reads)}
    out = np.empty((1, body.spec.observation_size))
    body.observe(fields, out)
    return out[0]


def _found(seen: Float, values: Float) -> Int | None:
    """The columns of observations (p, obs) that are the values (p, c) in every probe; None where one is missing."""
    same = np.abs(seen[:, :, None] - values[:, None]).max(axis=0) <= SAME  # (obs, c)
    return np.asarray(same.argmax(axis=0), np.int64) if same.any(axis=0).all() else None


def _changes(body: RobotModel, dofs: Sequence[int] | Int, *, positions: bool) -> Bool:
    """Which columns (obs,) change when a position or a velocity of any of `dofs` does."""
    model, rng = body.model, stream(0, "gap", "columns")
    [start], [_] = body.start(rng, 1)
    mujoco.mj_normalizeQuat(model, start)
    qvel = rng.standard_normal(model.nv)
    still, changed = observed(body, start, qvel), np.zeros(body.spec.observation_size, np.bool_)
    for dof in dofs:
        nudge, qpos = NUDGE * np.eye(model.nv)[int(dof)], start.copy()
        if positions:
            mujoco.mj_integratePos(model, qpos, nudge, 1.0)
        changed |= np.abs(observed(body, qpos, qvel + (0 if positions else nudge)) - still) > MOVED
    return changed


def _sensed(body: RobotModel, columns: Bool) -> Int:
    return np.intersect1d(np.flatnonzero(columns), body.spec.robot_dimensions)
