"""The model with what was fitted in it: as a MuJoCo model, and as an MJCF file."""

import copy
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import write_whole
from isthmus.replay.fit import Fitted
from isthmus.replay.rig import UNLIMITED

OUTSIDE = "not in the file, for MJCF has no place for it"


def identified_model(model: mujoco.MjModel, fitted: Fitted) -> mujoco.MjModel:
    """A copy of `model` with the fitted values; delay, friction under load and zeros of sensors are not in a model."""
    changed = copy.copy(model)
    plain = changed.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE.value
    changed.actuator_biastype[plain], changed.actuator_biasprm[plain] = mujoco.mjtBias.mjBIAS_AFFINE.value, 0.0

    def field(name: str) -> Float:
        return np.asarray(changed.opt.gravity if name == "opt.gravity" else getattr(changed, name))[None]

    for one, z in zip(fitted.free, fitted.z, strict=True):
        if one.write is not None:
            one.write(field, np.array([float(one.value(np.asarray(z)))]))
            if one.kind == "torque limit":
                changed.actuator_forcelimited[:] = np.abs(changed.actuator_forcerange[:, 1]) < UNLIMITED / 2
    mujoco.mj_setConst(changed, mujoco.MjData(changed))
    return changed


def left_out(fitted: Fitted) -> list[str]:
    """What was fitted and is in no model, in words."""
    return [
        f"{one.name}: {float(one.value(np.asarray(z))):.4g} {one.unit}"
        for one, z in zip(fitted.free, fitted.z, strict=True)
        if one.write is None
    ]


def spec_with_motors(path: Path) -> mujoco.MjSpec:
    """The MJCF or URDF file at `path`; a robot without actuators, as in a URDF file, gets a motor at every joint."""
    spec = mujoco.MjSpec.from_file(str(path))
    if not spec.actuators:
        for joint in spec.joints:
            if joint.type != mujoco.mjtJoint.mjJNT_FREE and joint.name:
                motor = spec.add_actuator(name=joint.name, target=joint.name)
                motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
    return spec


def write_mjcf(source: Path, path: Path, fitted: Fitted, drives: mujoco.MjModel | None = None) -> None:
    """Write the MJCF or URDF file `source` as MJCF with the fitted values to `path`; meshes are named as they were.

    `drives` is the model that was fitted, where its actuators are other than those in the file: they are written too.
    """
    try:
        spec = spec_with_motors(source)
        compiled = spec.compile()  # also numbers the parts of the spec
        model = identified_model(compiled if drives is None else drives, fitted)
    except ValueError as error:
        raise Problem(f"{source} is not a robot model that MuJoCo can read: {str(error)[:200]}") from error
    spec.option.gravity = model.opt.gravity
    for joint in spec.joints:
        dof = int(model.jnt_dofadr[joint.id])
        joint.armature = float(model.dof_armature[dof])
        joint.frictionloss = float(model.dof_frictionloss[dof])
        _put_first(joint.damping, float(np.ravel(model.dof_damping[dof])[0]))
        _put_first(joint.stiffness, float(np.ravel(model.jnt_stiffness[joint.id])[0]))
    for body in spec.bodies:
        if body.id and model.body_mass[body.id] > 0:
            body.explicitinertial = True
            body.mass, body.ipos = float(model.body_mass[body.id]), model.body_ipos[body.id]
            body.inertia, body.iquat = model.body_inertia[body.id], model.body_iquat[body.id]
            body.fullinertia = np.full(6, np.nan)
    for actuator in spec.actuators:
        actuator.gaintype = mujoco.mjtGain(int(model.actuator_gaintype[actuator.id]))
        actuator.biastype = mujoco.mjtBias(int(model.actuator_biastype[actuator.id]))
        actuator.ctrllimited = bool(model.actuator_ctrllimited[actuator.id])
        actuator.gainprm[:3] = model.actuator_gainprm[actuator.id, :3]
        actuator.biasprm[:3] = model.actuator_biasprm[actuator.id, :3]
        if model.actuator_forcelimited[actuator.id]:
            actuator.forcerange = model.actuator_forcerange[actuator.id]
            actuator.forcelimited = True
    said = "".join(f"<!-- {one} ({OUTSIDE}) -->\n" for one in left_out(fitted))
    write_whole(path, (said + spec.to_xml()).encode())


def _put_first(values: Float, value: float) -> None:
    """The linear term of what MuJoCo keeps as a polynomial."""
    values[0] = value
