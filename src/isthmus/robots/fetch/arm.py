"""The Fetch's arm, from the files of its model in the gymnasium-robotics wheel, whose environments are not used."""

from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Problem

PREFIX = "robot0:"
JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "upperarm_roll_joint",
    "elbow_flex_joint",
    "forearm_roll_joint",
    "wrist_flex_joint",
    "wrist_roll_joint",
)
"""As the robot itself names them, in /joint_states and to its arm controller."""
SPEED_LIMITS = np.array([1.256, 1.454, 1.571, 1.521, 1.571, 2.268, 2.268])
"""Of the robot's own description, in rad/s; the model has none."""
REACH = np.array([1.6, 1.2, 2.4, 2.2, 2.4, 2.1, 2.4])
"""How far from zero a joint may be sent, in rad: within the model's range, and alike on both sides."""
HOME = np.array([0.0, 0.2, 0.0, 0.9, 0.0, 0.6, 0.0])
"""Where every swing begins: the arm in front of the robot, bent a little."""
FINGER_MASS = 0.06
"""The model's fingers weigh 4 kg each, which steadies its gripper; the robot's do not."""


def arm_spec() -> mujoco.MjSpec:
    """The robot with all joints fixed but those of the arm, without actuators, ready to be edited."""
    package = find_spec("gymnasium_robotics")
    if package is None or package.origin is None:
        raise Problem(
            "the Fetch's model comes with gymnasium-robotics, which is not installed: pip install isthmus[fetch]"
        )
    spec = mujoco.MjSpec.from_file(str(Path(package.origin).parent / "envs" / "assets" / "fetch" / "reach.xml"))
    for equality in list(spec.equalities):
        spec.delete(equality)
    for name in (f"{PREFIX}mocap", "table0", "floor0"):
        spec.delete(body_of(spec, name))
    arm = {PREFIX + joint for joint in JOINTS}
    for joint in list(spec.joints):
        if joint.name not in arm:
            spec.delete(joint)
    for finger_side in "rl":
        finger = body_of(spec, f"{PREFIX}{finger_side}_gripper_finger_link")
        finger.mass, finger.inertia = FINGER_MASS, np.full(3, 1e-5)
    for joint in spec.joints:
        joint.name = joint.name.removeprefix(PREFIX)
        joint.stiffness = np.zeros(3)
    # Nothing is within reach of a swing, and meshes that touch each other at the joints are dear to compute.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    spec.compiler.fusestatic = True
    return spec


def body_of(spec: mujoco.MjSpec, name: str) -> mujoco.MjsBody:
    """The body of that name."""
    found = spec.body(name)
    if found is None:
        raise Problem(f"the Fetch's model has no body {name!r}: install the gymnasium-robotics of constraints.txt")
    return found


def joint_of(spec: mujoco.MjSpec, name: str) -> mujoco.MjsJoint:
    """The joint of that name."""
    found = spec.joint(name)
    if found is None:
        raise Problem(f"the Fetch's model has no joint {name!r}: install the gymnasium-robotics of constraints.txt")
    return found
