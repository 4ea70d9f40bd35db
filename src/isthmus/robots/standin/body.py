"""The simulated robot itself: it moves as its model does, obeys its last command for a while, and then holds."""

import itertools
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.gaps import Gap
from isthmus.hardware.driver import columns
from isthmus.hardware.goal import Goal
from isthmus.hardware.real_robot import Wiring
from isthmus.tasks import Task

PATIENCE = 0.2
"""Seconds after the end of a command in which another must come; otherwise the robot holds by itself."""
BRAKE = 0.03
"""Seconds in which brakes take two thirds of a joint's speed."""


@dataclass(frozen=True)
class Course:
    """What a command asks for from `begin` to `end`: positions along a line, or the same efforts all the while."""

    begin: float
    end: float
    start: Float
    goal: Float

    def at(self, now: float) -> Float:
        """The command (act,) at that time."""
        if now >= self.end or self.end <= self.begin:
            return self.goal
        return self.start + (self.goal - self.start) * (now - self.begin) / (self.end - self.begin)


class Body:
    """One robot; it knows nothing of how it is reached."""

    def __init__(self, task: Task, gap: Gap, seed: int = 0) -> None:
        """Stand where an episode begins, held."""
        robot, self._wiring = task.robot_model, task.wired()
        if gap.action_channel(robot.spec, 1) or gap.sensor_channel(robot.spec, 1, robot) or robot.drive:
            raise Problem(f"a stand-in differs from its simulator in its model only: {gap} does more than that")
        self._model = gap.resolve(robot.model).apply(robot.model)
        self._data = mujoco.MjData(self._model)
        qpos, qvel = robot.start(np.random.default_rng(seed), 1)
        self._data.qpos[:], self._data.qvel[:] = qpos[0], 0.0 * qvel[0]
        mujoco.mj_forward(self._model, self._data)
        self._joints = _addresses(self._model, task.robot_model.spec.action_names)
        self._course: Course | None = None
        self._hold_at = self._command_here()

    @property
    def wiring(self) -> Wiring:
        """How it is driven."""
        return self._wiring

    @property
    def period(self) -> float:
        """Seconds of a physics step."""
        return float(self._model.opt.timestep)

    @property
    def time(self) -> float:
        """Seconds since it was switched on."""
        return float(self._data.time)

    @property
    def held(self) -> bool:
        """Whether it obeys no command."""
        return self._course is None

    @property
    def positions(self) -> Float:
        """Where the joints are (act,)."""
        return np.array(self._data.qpos[self._joints[0]])

    @property
    def velocities(self) -> Float:
        """How fast they are (act,)."""
        return np.array(self._data.qvel[self._joints[1]])

    def follow(self, goal: Goal) -> bool:
        """Obey a command from now on; False for one that cannot be obeyed, which changes nothing."""
        where = columns(goal.names, self._wiring.joints)
        if where is None or not goal.points:
            return False
        seconds, values = goal.points[-1]
        if values.shape != (len(goal.names),) or not np.isfinite(values).all() or not 0 <= seconds < 10:
            return False
        wanted = np.clip(values[where], self._wiring.low, self._wiring.high)
        pushes = self._wiring.commands == "effort"
        start = wanted if pushes else self._hold_at if self._course is None else self._course.at(self.time)
        self._course = Course(self.time, self.time + seconds, start, wanted)
        return True

    def hold(self) -> None:
        """Stay: by brakes where efforts are commanded, else by the position controller where its course is now."""
        if self._course is not None:
            self._hold_at = self._course.at(self.time)
            self._course = None

    def step(self) -> None:
        """One physics step."""
        if self._course is not None and self.time > self._course.end + PATIENCE:
            self.hold()  # nobody is there any more
        data, model = self._data, self._model
        if self._course is None and self._wiring.commands == "effort":
            data.qvel[:] *= np.exp(-self.period / BRAKE)
            mujoco.mj_integratePos(model, data.qpos, data.qvel, self.period)
            data.time += self.period
            return
        command = self._hold_at if self._course is None else self._course.at(self.time)
        data.ctrl[:] = self._wiring.asked(command)
        mujoco.mj_step(model, data)

    def _command_here(self) -> Float:
        """The command (act,) that keeps the joints where they are, as far as one can."""
        if self._wiring.commands == "effort":
            return np.zeros(len(self._wiring.joints))
        return np.clip(self.positions, self._wiring.low, self._wiring.high)


def _addresses(model: mujoco.MjModel, actions: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Where positions and velocities of the joints behind the actuators are, in the order of the actions."""
    if model.nu != len(actions):
        raise Problem(f"a stand-in needs an actuator for each action: the model has {model.nu}, and {len(actions)} act")
    joints: list[int] = []
    for actuator in range(model.nu):
        kind = int(model.actuator_trntype[actuator])
        joint = int(model.actuator_trnid[actuator, 0])
        if kind != mujoco.mjtTrn.mjTRN_JOINT.value or int(model.jnt_type[joint]) not in (
            mujoco.mjtJoint.mjJNT_HINGE.value,
            mujoco.mjtJoint.mjJNT_SLIDE.value,
        ):
            raise Problem(f"a stand-in has motors on hinges and slides only: see actuator {actuator} of the model")
        joints.append(joint)
    if any(one == other for one, other in itertools.combinations(joints, 2)):
        raise Problem("a stand-in has one motor a joint")
    return [int(model.jnt_qposadr[joint]) for joint in joints], [int(model.jnt_dofadr[joint]) for joint in joints]
