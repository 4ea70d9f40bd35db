"""The robots that boards drive: their MuJoCo models, and where their joints, sensors and motors are."""

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Problem, unknown_name
from isthmus.firmware.board import Board

FOLDER = Path(__file__).parent
NAMED = ("leg", "quadruped")


@dataclass(frozen=True)
class Body:
    """A robot's model and the places in it that a board is wired to."""

    model: mujoco.MjModel
    qpos: NDArray[np.int32]
    """Where the position of each of the board's joints is in qpos (J,)."""
    dof: NDArray[np.int32]
    actuator: NDArray[np.int32]
    """The motor of each joint; -1 where there is none, and the torque is applied to the joint itself."""
    gyro: int
    accelerometer: int
    trunk: int
    """The body that carries the IMU, and that is pushed."""
    keyframe: int
    is_free: bool
    """Whether its first joint lets it go anywhere."""


def load_body(board: Board) -> Body | None:
    """The robot of a board; None when it has none."""
    if board.robot is None:
        return None
    spec = _spec(board)
    site = next((device.site for device in board.devices if device.site), None)
    _sensors(board, spec, site)
    try:
        model = spec.compile()
    except ValueError as error:
        raise Problem(f"robot {board.robot} of {board.path} cannot be built: {error}") from None
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
    joints = [_joint(board, model, name) for name in board.joints]
    frame = _keyframe(board, model)
    trunk = int(model.site(site).bodyid[0]) if site else min(1, model.nbody - 1)
    return Body(
        model,
        np.array([model.jnt_qposadr[j] for j in joints], np.int32),
        np.array([model.jnt_dofadr[j] for j in joints], np.int32),
        np.array([_motor(board, model, j) for j in joints], np.int32),
        int(model.sensor("firmware_gyro").adr[0]) if site else -1,
        int(model.sensor("firmware_accelerometer").adr[0]) if site else -1,
        trunk,
        frame,
        model.njnt > 0 and int(model.jnt_type[0]) == mujoco.mjtJoint.mjJNT_FREE.value,
    )


def _spec(board: Board) -> mujoco.MjSpec:
    assert board.robot is not None  # noqa: S101
    path = FOLDER / f"{board.robot}.xml" if board.robot in NAMED else board.path.parent / board.robot
    if not path.is_file():
        raise Problem(
            f"{board.path}: robot {board.robot!r} is neither {' nor '.join(NAMED)} nor an MJCF file beside it"
        )
    try:
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        raise Problem(f"robot {path} is no MJCF model: {error}") from None


def _sensors(board: Board, spec: mujoco.MjSpec, site: str | None) -> None:
    """Add a gyroscope and an accelerometer at the IMU's site."""
    if site is None:
        return
    sites = [one.name for one in spec.sites]
    if site not in sites:
        raise Problem(f"{board.path}: {unknown_name(f'site of robot {board.robot}', site, sites)}")
    kinds = {"gyro": mujoco.mjtSensor.mjSENS_GYRO, "accelerometer": mujoco.mjtSensor.mjSENS_ACCELEROMETER}
    for name, kind in kinds.items():
        spec.add_sensor(name=f"firmware_{name}", type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site)


def _joint(board: Board, model: mujoco.MjModel, name: str) -> int:
    names = [model.joint(i).name for i in range(model.njnt)]
    if name not in names:
        raise Problem(f"{board.path}: {unknown_name(f'joint of robot {board.robot}', name, names)}")
    joint = names.index(name)
    if int(model.jnt_type[joint]) not in (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value):
        raise Problem(f"{board.path}: joint {name} is neither a hinge nor a slide: a motor cannot drive it")
    return joint


def _motor(board: Board, model: mujoco.MjModel, joint: int) -> int:
    for i in range(model.nu):
        if int(model.actuator_trntype[i]) == mujoco.mjtTrn.mjTRN_JOINT.value and model.actuator_trnid[i, 0] == joint:
            if int(model.actuator_biastype[i]) != mujoco.mjtBias.mjBIAS_NONE.value:
                raise Problem(
                    f"{board.path}: actuator {model.actuator(i).name} of robot {board.robot} is a servo: "
                    "the firmware's motors need a plain <motor>"
                )
            return i
    return -1


def _keyframe(board: Board, model: mujoco.MjModel) -> int:
    if board.keyframe is None:
        return -1
    names = [model.key(i).name for i in range(model.nkey)]
    if board.keyframe not in names:
        raise Problem(f"{board.path}: {unknown_name(f'keyframe of robot {board.robot}', board.keyframe, names)}")
    return names.index(board.keyframe)
