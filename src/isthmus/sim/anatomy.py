"""What of a model is the robot: the bodies and joints that its actuators can move."""

import mujoco
import numpy as np

from isthmus.core import Bool, Int


def actuated_dofs(model: mujoco.MjModel) -> Int:
    """Degrees of freedom that an actuator acts on, each once."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ends = zip(data.moment_rowadr, data.moment_rownnz, strict=True)
    columns = [data.moment_colind[first : first + count] for first, count in ends]
    return np.unique(np.concatenate(columns)).astype(np.int64) if columns else np.empty(0, np.int64)


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
