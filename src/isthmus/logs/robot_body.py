"""A robot's model as logs are compared with it: joints that a log may hold, their ranges, and what moves them."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, Problem

Index = NDArray[np.intp]
HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value
JOINT_DRIVES = (mujoco.mjtTrn.mjTRN_JOINT.value, mujoco.mjtTrn.mjTRN_JOINTINPARENT.value)
QUIET = (
    mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT.value
    | mujoco.mjtDisableBit.mjDSBL_SENSOR.value
    | mujoco.mjtDisableBit.mjDSBL_ACTUATION.value
)
"""What inverse dynamics does without: a robot in a log is taken to touch nothing but its stand."""


@dataclass(frozen=True)
class RobotBody:
    """The joints of a model that a log may have columns for. Its base, if it moves, is taken to be held."""

    model: mujoco.MjModel
    joints: tuple[str, ...]
    """(n,) hinges and slides: those with actuators, and passive ones that do not carry the whole robot."""
    ids: Index
    """(n,) of the joints in the model."""
    low: Float
    """(n,) lower limits; minus infinity where there is none."""
    high: Float
    """(n,)."""
    home: Float
    """(n,) the model's first pose: that of its first keyframe, if it has one."""
    actuators: tuple[str, ...]
    """(m,) names of what moves the joints; the joint's own where the model has no actuators."""
    moved: Index
    """(m,) which of the joints each actuator moves."""
    gear: Float
    """(m,) N m that the joint gets of one unit of control; 1 where a servo follows positions."""
    servo: bool
    """Whether the model's actuators follow positions."""

    @property
    def hinges(self) -> NDArray[np.bool_]:
        """(n,) which joints turn."""
        return np.asarray(self.model.jnt_type[self.ids] == HINGE, np.bool_)

    @property
    def passive(self) -> NDArray[np.bool_]:
        """(n,) which joints nothing moves."""
        found = np.ones(len(self.joints), np.bool_)
        found[self.moved] = False
        return found

    def only(self, joints: Index) -> "RobotBody":
        """The same robot with some of its joints (k,), in that order."""
        back = {joint: place for place, joint in enumerate(joints.tolist())}
        kept = [place for place, joint in enumerate(self.moved.tolist()) if joint in back]
        return RobotBody(
            self.model,
            tuple(self.joints[int(joint)] for joint in joints),
            self.ids[joints],
            self.low[joints],
            self.high[joints],
            self.home[joints],
            tuple(self.actuators[place] for place in kept),
            np.array([back[int(self.moved[place])] for place in kept], np.intp),
            self.gear[kept],
            self.servo,
        )


def body_of(model: mujoco.MjModel) -> RobotBody:
    """What a log of this model's robot may hold."""
    single = [number for number in range(model.njnt) if model.jnt_type[number] in (HINGE, SLIDE)]
    drives = [number for number in range(model.nu) if model.actuator_trntype[number] in JOINT_DRIVES]
    driven = {int(model.actuator_trnid[number, 0]) for number in drives}
    chosen = [number for number in single if not driven or number in driven or not _carries(model, number, driven)]
    if not chosen:
        raise Problem("the robot's model has no hinge or slide joint that a log could be mapped to")
    ids = np.array(chosen, np.intp)
    names = tuple(model.joint(number).name or f"joint {number}" for number in chosen)
    limited = model.jnt_limited[ids].astype(bool)
    pose = model.key_qpos[0] if model.nkey else model.qpos0
    firsts: dict[int, int] = {}
    for number in drives:  # of several on one joint, as the halves of a double-acting drive, the first counts
        firsts.setdefault(int(model.actuator_trnid[number, 0]), number)
    place = {number: index for index, number in enumerate(chosen)}
    used = [(place[joint], number) for joint, number in firsts.items() if joint in place]
    servo = any(model.actuator_biastype[number] == mujoco.mjtBias.mjBIAS_AFFINE.value for number in drives)
    return RobotBody(
        model=model,
        joints=names,
        ids=ids,
        low=np.where(limited, model.jnt_range[ids, 0], -np.inf),
        high=np.where(limited, model.jnt_range[ids, 1], np.inf),
        home=np.array(pose[model.jnt_qposadr[ids]]),
        actuators=tuple(model.actuator(number).name or names[joint] for joint, number in used) if used else names,
        moved=np.array([joint for joint, _ in used] if used else range(len(names)), np.intp),
        gear=np.array([_gear(model, number, servo=servo) for _, number in used]) if used else np.ones(len(names)),
        servo=servo,
    )


def _carries(model: mujoco.MjModel, joint: int, driven: set[int]) -> bool:
    """Whether a joint carries all joints that are driven, as those do by which a planar walker's trunk moves."""
    carrier = int(model.jnt_bodyid[joint])
    return all(_is_below(model, int(model.jnt_bodyid[other]), carrier) for other in driven)


def _is_below(model: mujoco.MjModel, body: int, carrier: int) -> bool:
    while body and body != carrier:
        body = int(model.body_parentid[body])
    return body == carrier


def _gear(model: mujoco.MjModel, actuator: int, *, servo: bool) -> float:
    gear = float(model.actuator_gear[actuator, 0]) * (1.0 if servo else float(model.actuator_gainprm[actuator, 0]))
    return gear if gear else 1.0
