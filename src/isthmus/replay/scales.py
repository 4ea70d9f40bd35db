"""How large things are in a recording: the torques, speeds and travels that parameters are counted in."""

from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig

ROWS = 400
"""Rows that are looked at, at most."""
SMALLEST = 1e-9


@dataclass(frozen=True)
class Scales:
    """Root mean squares over a recording."""

    dt: float
    torque: Float
    """(n,): what the model needs at each joint to move as recorded, and to carry what it carries."""
    speed: Float  # (n,)
    travel: Float
    """(n,): standard deviation of the positions."""
    inertia: Float
    """(n,): what the model has at each joint."""
    drive: Float
    """(m,): what the model's actuators give."""
    peak: Float
    """(m,): the 99th percentile of that."""


def measure(rig: Rig, recording: Recording) -> Scales:
    """Measure them."""
    rows = np.unique(np.linspace(0, len(recording) - 1, ROWS).astype(np.int64))
    acceleration = np.gradient(recording.velocity, recording.dt, axis=0)
    acceleration[np.isin(np.arange(len(recording)), recording.starts)] = 0.0
    data, full = mujoco.MjData(rig.model), np.zeros((rig.model.nv, rig.model.nv))
    torque = np.empty((len(rows), len(rig.joints)))
    inertia, drive = torque.copy(), np.empty((len(rows), len(rig.actuators)))
    for out, row in enumerate(rows.tolist()):
        data.qpos[rig.positions], data.qvel[rig.dofs] = recording.position[row], recording.velocity[row]
        data.qacc[rig.dofs] = acceleration[row]
        data.ctrl[rig.controls] = recording.command[row]
        mujoco.mj_fwdPosition(rig.model, data)
        mujoco.mj_fwdVelocity(rig.model, data)
        mujoco.mj_fwdActuation(rig.model, data)
        wanted = data.qacc.copy()
        mujoco.mj_inverse(rig.model, data)
        data.qacc[:] = wanted
        mujoco.mj_fullM(rig.model, data, full)
        torque[out], inertia[out] = data.qfrc_inverse[rig.dofs], np.diag(full)[rig.dofs]
        gear = np.abs(rig.model.actuator_gear[rig.controls, 0])
        drive[out] = np.abs(data.actuator_force[rig.controls]) * np.where(gear > 0, gear, 1.0)

    def rms(values: Float) -> Float:
        return np.maximum(np.sqrt(np.mean(np.square(values), axis=0)), SMALLEST)

    return Scales(
        recording.dt,
        rms(torque),
        rms(recording.velocity),
        np.maximum(recording.position.std(axis=0), SMALLEST),
        np.maximum(np.median(inertia, axis=0), SMALLEST),
        rms(drive),
        np.maximum(np.quantile(drive, 0.99, axis=0), SMALLEST),
    )
