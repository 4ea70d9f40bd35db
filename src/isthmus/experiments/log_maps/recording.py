"""Recordings of simulated robots on a stand, with friction and noise that their models do not have."""

from copy import copy
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.logs.robot_body import RobotBody

STEP = 0.002
RATE = 100.0
HEAVY = 1e7
"""Armature by which what is not in a log is held."""
OUTSIDE = 0.2
"""rad beyond its limits that a joint may be in a recording; further, the drives were not stable."""
TRIES = 100
STIFF = 2.0
"""Hz of a drive's own oscillation."""


@dataclass(frozen=True)
class Recording:
    """What n joints did and what their actuators were told, in the robot's own terms."""

    time: Float
    """(T,) s."""
    position: Float
    """(T, n)."""
    velocity: Float
    """(T, n)."""
    command: Float
    """(T, m): positions, or control of the model's actuators."""
    kind: Literal["position", "effort"]
    delay: float
    """Seconds by which commands acted later than they are logged."""


def record(body: RobotBody, kind: Literal["position", "effort"], seconds: float, rng: np.random.Generator) -> Recording:
    """Move a robot by smooth targets, each joint by its own, with PD control.

    Delayed drives may oscillate until the robot is out of its limits. Nobody would keep such a recording: then another
    one is drawn.
    """
    for _ in range(TRIES):
        found = _recorded(body, kind, seconds, rng)
        beyond = np.maximum(body.low - found.position, found.position - body.high)
        if np.all(beyond < OUTSIDE):  # not so where it is not a number
            return found
    raise Problem(f"the robot left its limits in all of {TRIES} recordings")


def _recorded(
    body: RobotBody, kind: Literal["position", "effort"], seconds: float, rng: np.random.Generator
) -> Recording:
    model, places, dofs = _held(body, rng)
    data = mujoco.MjData(model)
    target = _targets(body, seconds, rng)
    inertia, weight = _sizes(model, data, target[:: len(target) // 20 + 1], places, dofs)
    efforts = kind == "effort"
    kp = inertia * (2 * np.pi * STIFF) ** 2
    kp = kp if efforts else np.maximum(kp, weight / 0.15)
    kd = 1.4 * np.sqrt(kp * inertia)
    model.dof_frictionloss[dofs] = rng.uniform(0.02, 0.1, len(dofs)) * np.maximum(weight, 0.3 * kp * 0.1)
    model.dof_damping[dofs] += rng.uniform(0.0, 0.1, len(dofs)) * kd
    driven, delay = ~body.passive, float(rng.uniform(0, 0.012))
    every, wait = round(1 / (RATE * STEP)), round(delay / STEP)
    rows = int(seconds * RATE)
    position, velocity, asked = np.empty((3, rows, len(dofs)))
    told = np.zeros((rows * every + wait + 1, len(dofs)))
    data.qpos[places] = target[0]
    for row in range(rows):
        q, v = data.qpos[places].copy(), data.qvel[dofs].copy()
        position[row], velocity[row] = q, v
        mujoco.mj_forward(model, data)
        pull = np.where(driven, kp * (target[row] - q) - kd * v + data.qfrc_bias[dofs] - data.qfrc_passive[dofs], 0.0)
        asked[row] = pull if efforts else target[row]
        told[row * every + wait : (row + 1) * every + wait] = asked[row]
        for step in range(row * every, (row + 1) * every):
            now = told[step] if step >= wait else asked[0]
            if not efforts:
                now = np.where(driven, kp * (now - data.qpos[places]) - kd * data.qvel[dofs], 0.0)
            data.qfrc_applied[dofs] = now
            mujoco.mj_step(model, data)
    noise = rng.uniform(2e-4, 1e-3)
    position = position + noise * rng.standard_normal(position.shape)
    velocity = velocity + 0.02 * velocity.std() * rng.standard_normal(velocity.shape)
    command = asked[:, body.moved] / (body.gear if efforts else 1.0)
    return Recording(np.arange(rows) / RATE, position, velocity, command, kind, wait * STEP)


def _held(body: RobotBody, rng: np.random.Generator) -> tuple[mujoco.MjModel, np.ndarray, np.ndarray]:
    """The model with its base held, masses that are a little off, and no drives of its own."""
    model = copy(body.model)
    model.opt.timestep = STEP
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value | mujoco.mjtDisableBit.mjDSBL_ACTUATION.value
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
    places, dofs = model.jnt_qposadr[body.ids], model.jnt_dofadr[body.ids]
    others = np.setdiff1d(np.arange(model.nv), dofs)
    model.dof_armature[others] += HEAVY
    change = rng.uniform(0.9, 1.1, model.nbody)
    model.body_mass *= change
    model.body_inertia *= change[:, None]
    model.body_gravcomp[:] = body.model.body_gravcomp
    return model, places, dofs


def _targets(body: RobotBody, seconds: float, rng: np.random.Generator) -> Float:
    """Sums of sines (T, n) within the joints' limits."""
    low, high = np.maximum(body.low, body.home - 1.5), np.minimum(body.high, body.home + 1.5)
    low, high = np.minimum(low, high), np.maximum(low, high)
    reach = high - low
    middle = low + reach * rng.uniform(0.4, 0.6, len(low))
    time = np.arange(int(seconds * RATE) + 1)[:, None] / RATE
    found = np.tile(middle, (len(time), 1))
    for _ in range(3):
        frequency, phase = rng.uniform(0.1, 1.0, len(low)), rng.uniform(0, 2 * np.pi, len(low))
        found += 0.11 * reach * rng.uniform(0.5, 1, len(low)) * np.sin(2 * np.pi * frequency * time + phase)
    return found


def _sizes(
    model: mujoco.MjModel, data: mujoco.MjData, poses: Float, places: np.ndarray, dofs: np.ndarray
) -> tuple[Float, Float]:
    """The largest inertia and the largest torque of gravity and springs of each joint (n,) over some poses."""
    inertia, weight = np.full(len(dofs), 1e-4), np.zeros(len(dofs))
    full = np.zeros((model.nv, model.nv))
    for pose in poses:
        data.qpos[places] = pose
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, full)
        inertia = np.maximum(inertia, np.diag(full)[dofs])
        weight = np.maximum(weight, np.abs(data.qfrc_bias[dofs] - data.qfrc_passive[dofs]))
    mujoco.mj_resetData(model, data)
    return inertia, weight
