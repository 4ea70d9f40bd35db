"""The physics of a board's robot, stepped from Python: for programs that run in a process of their own."""

from typing import final

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.firmware.board import Board
from isthmus.firmware.loop import STEP
from isthmus.firmware.robot import load_body

GRAVITY = 9.80665


@final
class Physics:
    """The robot that a board file names; without one, joints stay at zero and the IMU lies flat."""

    def __init__(self, board: Board) -> None:
        """Build the model and put the robot into its keyframe."""
        self._body = load_body(board)
        self._joints = len(board.joints)
        self._data = mujoco.MjData(self._body.model) if self._body else None
        self.step_s = float(self._body.model.opt.timestep) if self._body else STEP
        if self._body is not None and self._data is not None:
            if self._body.keyframe >= 0:
                mujoco.mj_resetDataKeyframe(self._body.model, self._data, self._body.keyframe)
            mujoco.mj_forward(self._body.model, self._data)

    def sense(self) -> Float:
        """Joint positions, joint velocities, angular rate and specific force at the IMU (2 J + 6,)."""
        out = np.zeros(2 * self._joints + 6)
        out[-1] = GRAVITY
        if self._body is not None and self._data is not None:
            body, data = self._body, self._data
            out[: 2 * self._joints] = np.concatenate([data.qpos[body.qpos], data.qvel[body.dof]])
            if body.gyro >= 0:
                out[-6:-3] = data.sensordata[body.gyro : body.gyro + 3]
                out[-3:] = data.sensordata[body.accelerometer : body.accelerometer + 3]
        return out

    def step(self, torques: Float, force: Float) -> None:
        """One physics step with torques (J,) at the motors, in N m, and a force (3,) on the trunk, in N."""
        if self._body is None or self._data is None:
            return
        body, data = self._body, self._data
        driven = body.actuator >= 0
        data.ctrl[body.actuator[driven]] = torques[driven] / body.model.actuator_gear[body.actuator[driven], 0]
        data.qfrc_applied[body.dof[~driven]] = torques[~driven]
        data.xfrc_applied[body.trunk, :3] = force
        mujoco.mj_step(body.model, data)

    @property
    def state(self) -> tuple[Float, Float, Float]:
        """qpos, qvel, and the trunk's attitude (4,), scalar first; NaN for a robot without one."""
        if self._body is None or self._data is None:
            return np.zeros(0), np.zeros(0), np.full(4, np.nan)
        free = self._body.model.njnt and self._body.model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE.value
        trunk = self._data.xquat[self._body.trunk].copy() if free else np.full(4, np.nan)
        return self._data.qpos.copy(), self._data.qvel.copy(), trunk
