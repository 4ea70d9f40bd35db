"""Logs and the robot that they are of, for commands that compare both."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from isthmus.cli.robot_models import NAMED, load_model
from isthmus.core import Float, Problem
from isthmus.logs import Log, LogMap, RobotLog, apply, read_log, read_map
from isthmus.logs.log_map import Source
from isthmus.logs.roles import words_in
from isthmus.replay.from_logs import recordings
from isthmus.replay.recording import Recording

BASE = ("base", "body", "imu", "rpy", "euler", "gyro", "quat", "odom")
"""What words begin with that name the motion of a base."""
MOVES = 0.1
"""rad, m, rad/s or m/s that a base on a stand keeps within."""
SMALL = 0.25
"""rad or m: zeros of sensors that are off by no more are left as they are in the log."""
MOST_ASKED = 3
"""Logs that are compared with the model, where the first ones leave doubts about which column is which joint."""


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
    model = load_model(robot, drives=True)
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
    read = [read_log(path) for path in logs]
    maps, doubts = (read_map(mapping), ()) if mapping is not None else _proposed(read, robot, model)
    doubts = (*doubts, *_other_settings(read), *_base_moves(read, model))
    out: list[tuple[str, RobotLog]] = []
    names = [path.stem for path in logs]
    for path, name, one in zip(logs, names, read, strict=True):
        log = apply(maps, one)
        maps = replace(maps, rate=1 / log.dt) if maps.rate is None else maps
        out.append((name if names.count(name) == 1 else f"{path.resolve().parent.name}/{name}", log))
    return out, doubts


def _other_settings(logs: Sequence[Log]) -> list[str]:
    """What is said of numbers that describe the logs and are not the same in all, as a gain or a load."""
    values: dict[str, list[float]] = {}
    for log in logs:
        for name, value in (log.meta or {}).items():
            if isinstance(value, float) and "." not in name:
                values.setdefault(name, []).append(value)
    differ = {name: sorted({*some}) for name, some in values.items() if len({*some}) > 1}
    return [
        f"the logs were recorded with different {name} ({', '.join(f'{one:g}' for one in some[:6])}"
        f"{', ...' if len(some) > 6 else ''}), and one model is compared with all: compare logs that are alike"
        for name, some in differ.items()
    ]


def _base_moves(logs: Sequence[Log], model: mujoco.MjModel) -> list[str]:
    """What is said of logs in which the robot's base moved, as in walking: replays hold it."""
    if mujoco.mjtJoint.mjJNT_FREE.value not in model.jnt_type.tolist():
        return []
    moving = {
        name
        for log in logs
        for name, one in log.series.items()
        if any(word.startswith(BASE) for word in words_in(name))
        and np.ptp(np.nanquantile(one.values, (0.01, 0.99), axis=0), axis=0).max() > MOVES
    }
    if not moving:
        return []
    return [
        f"the robot's base moves in these logs ({', '.join(sorted(moving)[:4])}), and replays hold it: what the ground "
        "does to the robot counts as physics of its joints; record the robot on a stand"
    ]


def _proposed(logs: Sequence[Log], robot: str, model: mujoco.MjModel) -> tuple[LogMap, tuple[str, ...]]:
    """The map that is used where the user gives none: the robot's own if it fits the log, or the one that is proposed.

    Some logs tell nothing, as those of a robot that hardly moves: then others are asked, and the one with the fewest
    doubts is believed. A command's delay is left in the log: it is part of the gap.
    """
    from isthmus.logs.assemble import Proposal, propose
    from isthmus.logs.robot_body import body_of

    if robot in NAMED:
        own = read_map(NAMED[robot].with_suffix(".logmap.toml"))
        if all(one.position.series in logs[0].series for one in own.joints):
            return own, ()
    asked: list[Proposal] = []
    for log in logs[:MOST_ASKED]:
        asked.append(propose(log, body_of(model), robot=robot))
        if not asked[-1].doubts:
            break
    found = min(asked, key=lambda one: one.doubts)
    left = [one.name for one in found.log_map.joints if abs(one.position.offset) <= SMALL]
    doubts = [one.joint for one in found.found if {*one.unsure} - ({"offset"} if one.joint in left else set())]
    said = (f"the map was guessed and is not sure about {', '.join(doubts)}: see `isthmus logs map`",) if doubts else ()
    log_map = replace(found.log_map, command_delay=min(found.log_map.command_delay, 0.0))
    return _without_small_offsets(log_map), said


def _without_small_offsets(log_map: LogMap) -> LogMap:
    """The map with small zeros of sensors, and of positions that are asked for, as the log has them."""

    def left(source: Source) -> Source:
        return replace(source, offset=0.0) if abs(source.offset) <= SMALL else source

    joints = tuple(replace(one, position=left(one.position)) for one in log_map.joints)
    if log_map.command_kind != "position":
        return replace(log_map, joints=joints)
    actuators = tuple(replace(one, command=left(one.command)) for one in log_map.actuators)
    return replace(log_map, joints=joints, actuators=actuators)


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
