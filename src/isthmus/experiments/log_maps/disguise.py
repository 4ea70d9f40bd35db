"""Disguise a recording: columns shuffled, negated, shifted, in degrees, with rows missing."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.core import Float, Int
from isthmus.experiments.log_maps.recording import Recording
from isthmus.logs import Log, Series
from isthmus.logs.robot_body import RobotBody
from isthmus.logs.series import make_log, numbered

DEGREE = np.pi / 180


@dataclass(frozen=True)
class Disguise:
    """What was done to the columns: column k holds `sign * (joint - offset) / scale` of the joint `order[k]`."""

    order: Int
    """(n,) the joint of each column of positions."""
    command_order: Int
    """(m,) the actuator of each column of commands."""
    signs: Float
    """(n,) of each joint, 1 or -1."""
    offsets: Float
    """(n,) of each joint, rad."""
    degrees: bool
    names: bool
    """Whether columns are named after joints."""
    velocities: bool
    """Whether there are columns of velocities."""
    gaps: int
    """Pieces that are missing."""


def random_disguise(body: RobotBody, rng: np.random.Generator, *, names: bool, largest_offset: float = 1.0) -> Disguise:
    """Columns in any order, half of them negated, with zeros up to `largest_offset` rad away, perhaps in degrees."""
    n, m = len(body.joints), len(body.actuators)
    return Disguise(
        order=rng.permutation(n),
        command_order=rng.permutation(m),
        signs=rng.choice([-1.0, 1.0], n),
        offsets=np.where(body.hinges, rng.uniform(-largest_offset, largest_offset, n), 0.0),
        degrees=bool(rng.integers(2)),
        names=names,
        velocities=bool(rng.integers(2)),
        gaps=int(rng.integers(3)),
    )


def disguised(recording: Recording, body: RobotBody, disguise: Disguise, rng: np.random.Generator) -> Log:
    """The log that a user would have."""
    scale = np.where(body.hinges, DEGREE if disguise.degrees else 1.0, 1.0)
    position = disguise.signs * (recording.position - disguise.offsets) / scale
    velocity = disguise.signs * recording.velocity / scale
    moved = body.moved
    command = disguise.signs[moved] * recording.command
    if recording.kind == "position":
        command = disguise.signs[moved] * (recording.command - disguise.offsets[moved]) / scale[moved]
    names: tuple[tuple[str, ...], tuple[str, ...]] = numbered(len(body.joints)), numbered(len(body.actuators))
    if disguise.names:
        joints, actuators = disguise.order, disguise.command_order
        names = tuple(body.joints[int(one)] for one in joints), tuple(body.actuators[int(one)] for one in actuators)
    asked = "joint_pos_target" if recording.kind == "position" else "torque_command"
    kept = _kept(len(recording.time), disguise.gaps, rng)
    columns: list[tuple[str, Float, tuple[str, ...]]] = [
        ("joint_pos", position[:, disguise.order], names[0]),
        (asked, command[:, disguise.command_order], names[1]),
    ]
    if disguise.velocities:
        columns.append(("joint_vel", velocity[:, disguise.order], names[0]))
    time = recording.time[kept]
    return make_log(
        Path("disguised.npz"), "npz", [Series(name, time, values[kept], own) for name, values, own in columns]
    )


def _kept(rows: int, gaps: int, rng: np.random.Generator) -> Int:
    keep = np.ones(rows, np.bool_)
    for _ in range(gaps):
        begin, length = rng.integers(rows), rng.integers(20, 100)
        keep[begin : begin + length] = False
    return np.flatnonzero(keep)
