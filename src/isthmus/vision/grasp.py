"""The Fetch robot picks an object: it is at its true place, and the grasp is where a localiser says that it is.

The model is that of the gymnasium-robotics wheel. Its gripper is led by a mocap body, as in its environments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float, Problem

SHAPES = {"cube": mujoco.mjtGeom.mjGEOM_BOX, "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER}
SIZES = {"cube": (0.025, 0.025, 0.025), "cylinder": (0.03, 0.025, 0.0)}
"""As in the scene `fetch`."""
TABLE = 0.4
"""Height of its table."""
HALF = 0.025
"""Half the height of both objects."""
AWAY = np.array([1.34, 0.75, 0.75])
"""Where the gripper begins."""
DOWN = np.array([1.0, 0.0, 1.0, 0.0]) / np.sqrt(2)
"""Orientation of the gripper whose fingers close along the world's y axis."""
OPEN, CLOSED = 0.05, 0.0
LIFTED = 0.12
"""Height that a picked object is lifted by, at least."""
RESTING = {"robot0:slide0": 0.405, "robot0:slide1": 0.48, "robot0:slide2": 0.0}
"""Where the environments put the robot's base."""


@dataclass(frozen=True)
class Grasp:
    """What became of one attempt."""

    picked: bool
    lifted: float
    """Height by which the object was lifted, in metres."""


class Gripper:
    """The Fetch and one object on its table."""

    def __init__(self, name: str = "cube") -> None:
        """Load the robot with an object of the scene `fetch`."""
        if name not in SHAPES:
            raise Problem(f"the gripper knows {', '.join(SHAPES)}, not {name!r}")
        spec = mujoco.MjSpec.from_file(str(fetch_model()))
        geom = next(one for one in spec.geoms if one.name == "object0")
        geom.type, geom.size = SHAPES[name], SIZES[name]
        geom.mass, geom.condim, geom.friction = 0.1, 4, [1.0, 0.05, 0.01]
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._object = int(self.model.joint("object0:joint").qposadr[0])
        self._site = self.model.site("robot0:grip").id
        for joint, value in RESTING.items():
            self.data.qpos[self.model.joint(joint).qposadr[0]] = value
        self._release_weld()
        self._put(np.array([1.25, 0.53]), 0.0)
        self.data.mocap_pos[0], self.data.mocap_quat[0] = AWAY, DOWN
        mujoco.mj_forward(self.model, self.data)
        self._wait(400, OPEN)
        self._resting = self.data.qpos.copy()
        self._offset = np.array(self.data.site_xpos[self._site] - self.data.mocap_pos[0])

    def attempt(
        self, place: Float, yaw: float, said: Float, said_yaw: float, watch: Callable[[], None] | None = None
    ) -> Grasp:
        """Put the object at `place` (2,) and grasp where it is said to be; `watch` is called once a control period."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self._resting
        self._put(place, yaw)
        self.data.mocap_pos[0], self.data.mocap_quat[0] = AWAY, DOWN
        mujoco.mj_forward(self.model, self.data)
        self._wait(50, OPEN, watch)
        aim = np.array([said[0], said[1], TABLE + HALF])
        self._go(aim + np.array([0, 0, 0.15]), said_yaw, 300, OPEN, watch)
        self._go(aim, said_yaw, 250, OPEN, watch)
        self._go(aim, said_yaw, 250, CLOSED, watch)
        self._go(aim + np.array([0, 0, 0.2]), said_yaw, 350, CLOSED, watch)
        self._wait(100, CLOSED, watch)
        lifted = float(self.data.qpos[self._object + 2]) - TABLE - HALF
        return Grasp(lifted > LIFTED, lifted)

    def _release_weld(self) -> None:
        """Let the mocap body hold the gripper as it is: no offset between their frames."""
        for one in range(self.model.neq):
            if self.model.eq_type[one] == mujoco.mjtEq.mjEQ_WELD:
                self.model.eq_data[one] = 0
                self.model.eq_data[one, 6] = self.model.eq_data[one, 10] = 1

    def _put(self, place: Float, yaw: float) -> None:
        at = self._object
        self.data.qpos[at : at + 7] = [*place[:2], TABLE + HALF, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]

    def _wait(self, steps: int, fingers: float, watch: Callable[[], None] | None = None) -> None:
        self.data.ctrl[:] = fingers
        for step in range(steps):
            mujoco.mj_step(self.model, self.data)
            if watch is not None and step % 20 == 0:
                watch()

    def _go(self, aim: Float, yaw: float, steps: int, fingers: float, watch: Callable[[], None] | None) -> None:
        """Lead the gripper's site to `aim` (3,) and its fingers to a yaw, and stay there for a while."""
        turn, goal = np.array([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]), np.zeros(4)
        mujoco.mju_mulQuat(goal, turn, DOWN)
        offset = np.zeros(3)
        mujoco.mju_rotVecQuat(offset, self._offset, turn)
        begin, begin_turn, end = self.data.mocap_pos[0].copy(), self.data.mocap_quat[0].copy(), aim - offset
        for step in range(steps):
            share = min(1.0, (step + 1) / (0.7 * steps))
            between = begin_turn + (goal - begin_turn) * share
            self.data.mocap_pos[0] = begin + (end - begin) * share
            self.data.mocap_quat[0] = between / np.linalg.norm(between)
            self._wait(1, fingers, watch if step % 20 == 0 else None)


def fetch_model() -> Path:
    """The MJCF of the Fetch with an object on a table, from the gymnasium-robotics wheel."""
    found = find_spec("gymnasium_robotics")
    if found is None or found.origin is None:
        raise Problem("the Fetch is that of gymnasium-robotics: pip install 'isthmus[fetch]'")
    return Path(found.origin).parent / "envs" / "assets" / "fetch" / "pick_and_place.xml"
