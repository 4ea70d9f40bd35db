"""The robot's model as a recording sees it: which joints were recorded, which are held, what drives them."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Bool, Int, Problem, unknown_name

HELD = 1e9
"""Armature of a joint that was not recorded: nothing moves it."""
SINGLE = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)
UNLIMITED = 1e9
"""A force range that limits nothing."""


@dataclass(frozen=True)
class Rig:
    """A model, and where the joints and commands of a recording are in it."""

    model: mujoco.MjModel
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    positions: Int
    """(n,): where qpos has each joint."""
    dofs: Int
    """(n,): where qvel has each joint."""
    controls: Int
    """(m,): where ctrl has each command."""
    held: tuple[str, ...] = ()
    """Joints of the model that were not recorded and are held where the model has them."""

    @property
    def trees(self) -> Int:
        """(n,): joints with different numbers do not move each other."""
        parents, mine = self.model.dof_parentid, set(self.dofs.tolist())

        def root(dof: int) -> int:
            top = dof
            while (dof := int(parents[dof])) >= 0:
                top = dof if dof in mine else top
            return top

        return np.array([root(int(dof)) for dof in self.dofs], np.int64)

    @property
    def driven(self) -> Int:
        """(m,): the recorded joint that each actuator moves; -1 where it moves none or several."""
        joints = self.model.dof_jntid[self.dofs].tolist()
        by_joint = self.model.actuator_trntype[self.controls] == mujoco.mjtTrn.mjTRN_JOINT.value
        ids = self.model.actuator_trnid[self.controls, 0].tolist()
        return np.array(
            [joints.index(one) if own and one in joints else -1 for own, one in zip(by_joint, ids, strict=True)],
            np.int64,
        )

    @property
    def servos(self) -> Bool:
        """(m,): whether each command is a position that a servo goes to."""
        return np.array([self.model.actuator_biasprm[one, 1] != 0 for one in self.controls], np.bool_)


def substeps(model: mujoco.MjModel, dt: float) -> int:
    """Physics steps between two samples: of the model's own length, or as little shorter as makes them whole."""
    return max(1, int(np.ceil(dt / model.opt.timestep - 1e-6)))


def make_rig(model: mujoco.MjModel, joints: Sequence[str], actuators: Sequence[str], dt: float) -> Rig:
    """A copy of `model` for replays of recordings at the rate 1/dt.

    Joints that were not recorded, as the free joint of a robot on a stand, are held, and contacts of a robot that is
    held like that are switched off.
    """
    chosen = [_joint(model, name) for name in joints]
    controls = [_actuator(model, name) for name in actuators]
    model = copy.copy(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
    steps = substeps(model, dt)
    model.opt.timestep = dt / steps
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER.value:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value  # steps are other than the model's
    others = [one for one in range(model.njnt) if one not in chosen]
    base_held = False
    for one in others:
        first = int(model.jnt_dofadr[one])
        several = {mujoco.mjtJoint.mjJNT_FREE.value: 6, mujoco.mjtJoint.mjJNT_BALL.value: 3}
        count = several.get(int(model.jnt_type[one]), 1)
        model.dof_armature[first : first + count] = HELD
        model.jnt_stiffness[one] = 0.0
        base_held |= int(model.jnt_type[one]) == mujoco.mjtJoint.mjJNT_FREE.value
    if base_held:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    unlimited = model.actuator_forcelimited == 0
    model.actuator_forcerange[unlimited] = (-UNLIMITED, UNLIMITED)
    model.actuator_forcelimited[:] = 1
    plain = model.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE.value
    model.actuator_biastype[plain], model.actuator_biasprm[plain] = mujoco.mjtBias.mjBIAS_AFFINE.value, 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return Rig(
        model,
        tuple(joints),
        tuple(actuators),
        np.asarray(model.jnt_qposadr[chosen], np.int64),
        np.asarray(model.jnt_dofadr[chosen], np.int64),
        np.asarray(controls, np.int64),
        tuple(model.joint(one).name or _unnamed(model, one) for one in others),
    )


def _unnamed(model: mujoco.MjModel, joint: int) -> str:
    """What a joint without a name is called."""
    return "its base" if int(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_FREE.value else f"joint {joint}"


def _joint(model: mujoco.MjModel, name: str) -> int:
    names = [model.joint(one).name for one in range(model.njnt)]
    if name not in names:
        raise unknown_name("joint", name, [one for one in names if one])
    number = names.index(name)
    if int(model.jnt_type[number]) not in SINGLE:
        raise Problem(f"joint {name} has several degrees of freedom: recordings are of hinges and slides")
    return number


def _actuator(model: mujoco.MjModel, name: str) -> int:
    """The actuator of that name, or the only one that moves the joint of that name."""
    names = [model.actuator(one).name for one in range(model.nu)]
    if name in names:
        return names.index(name)
    joint = [model.joint(one).name for one in range(model.njnt)]
    if name in joint:
        by_joint = model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT.value
        movers = np.flatnonzero(by_joint & (model.actuator_trnid[:, 0] == joint.index(name)))
        if len(movers) == 1:
            return int(movers[0])
    if not model.nu:
        raise Problem("the robot's model has no actuators, so that commands cannot move it: add them to its MJCF")
    raise unknown_name("actuator", name, [one for one in names if one])
