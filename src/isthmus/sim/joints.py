"""Where an observation says that the actuated joints are."""

from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.sim.robot_model import RobotModel

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
