"""The torque that a recorded motion implies, where none was measured: inverse dynamics of the robot's model."""

import copy
from dataclasses import replace

import mujoco
import numpy as np
from scipy.signal import savgol_filter  # pyright: ignore[reportUnknownVariableType]

from isthmus.actuators.channel import set_joints
from isthmus.actuators.log import ActuatorLog
from isthmus.actuators.parts import Joint
from isthmus.actuators.plant import Plant
from isthmus.core import Float, Problem

SECONDS = 0.035
"""Over which positions are smoothed before they are differentiated twice."""


def implied_torque(log: ActuatorLog, plant: Plant, joint: Joint) -> ActuatorLog:
    """The log with the torques (T, J) that move the model as the robot moved, with these joints."""
    model = copy.copy(plant.model)
    set_joints(model, joint, plant.dofs)
    model.opt.timestep = log.dt
    data = mujoco.MjData(model)
    accelerations = np.concatenate([_acceleration(one) for one in log.segments()])
    torque = np.empty_like(accelerations)
    for row, (position, velocity, acceleration) in enumerate(
        zip(log.position, log.velocity, accelerations, strict=True)
    ):
        data.qpos[plant.positions], data.qvel[plant.dofs] = position, velocity
        data.qacc[plant.dofs] = acceleration
        mujoco.mj_inverse(model, data)
        torque[row] = data.qfrc_inverse[plant.dofs]
    return replace(log, torque=torque)


def _acceleration(log: ActuatorLog) -> Float:
    width = max(5, round(SECONDS / log.dt) | 1)
    if len(log) <= width:
        raise Problem(f"a segment of {len(log)} samples is too short to differentiate")
    return np.asarray(savgol_filter(log.position, width, 3, deriv=2, delta=log.dt, axis=0), np.float64)
