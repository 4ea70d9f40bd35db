"""The commonest observation: positions and velocities, perhaps without where the robot is on the ground."""

from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.worlds import Fields


def joint_names(model: mujoco.MjModel) -> list[str]:
    """The names of a model's joints."""
    return [model.joint(joint).name for joint in range(model.njnt)]


def observe_state(skip: int) -> Callable[[Fields, Float], None]:
    """Observe all positions but the first `skip`, then all velocities."""

    def observe(fields: Fields, out: Float) -> None:
        qpos, qvel = fields["qpos"], fields["qvel"]
        positions = qpos.shape[1] - skip
        out[:, :positions] = qpos[:, skip:]
        out[:, positions : positions + qvel.shape[1]] = qvel

    return observe


def restore_state(skip: int) -> Callable[[Float, Float, Float], None]:
    """Undo `observe_state`: what was not observed is where the robot starts, at zero."""

    def restore(observations: Float, qpos: Float, qvel: Float) -> None:
        positions = qpos.shape[1] - skip
        qpos[:, :skip] = 0.0
        qpos[:, skip:] = observations[:, :positions]
        qvel[:] = observations[:, positions : positions + qvel.shape[1]]

    return restore


def squared_effort(commands: Float) -> Float:
    """The sum of the squares of all commands (n,)."""
    return np.square(commands).sum(axis=1)
