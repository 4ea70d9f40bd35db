"""Where an observation says that the actuated joints are."""

import mujoco
import numpy as np

from isthmus.adapt.method import Joints
from isthmus.core import Float
from isthmus.tasks import Task


def joints_of(task: Task) -> Joints | None:
    """Positions and velocities of each actuator's joint; None for a robot whose actuators drive something else."""
    body, model = task.robot_model, task.robot_model.model
    if not (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT.value).all():
        return None
    driven = model.actuator_trnid[:, 0]
    positions, velocities = model.jnt_qposadr[driven], model.jnt_dofadr[driven]

    def joints(observations: Float) -> tuple[Float, Float]:
        qpos, qvel = np.zeros((len(observations), model.nq)), np.zeros((len(observations), model.nv))
        body.restore(observations, qpos, qvel)
        return qpos[:, positions], qvel[:, velocities]

    return joints
