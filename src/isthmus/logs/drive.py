"""What drove a robot's joints in a log: how far commands were ahead of positions, or efforts."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.logs.angle_units import DEGREE
from isthmus.logs.pairing import FOLLOWS, Pairs
from isthmus.logs.raw_motion import RawMotion
from isthmus.logs.robot_body import RobotBody
from isthmus.logs.robot_log import CommandKind

UNITS = (1.0, DEGREE, 1e-3, 2 * np.pi, 2 * np.pi / 1024, 2 * np.pi / 4096, 2 * np.pi / 16384)
"""rad in one unit of a command that is a position."""
APART = 0.35
"""rad between the middles of a command and its position from which on they have different zeros."""
ONE_SIDED = 0.02
"""Share of samples below 0 that a torque with a sign has at least."""


@dataclass(frozen=True)
class Servo:
    """Commands that positions follow: for each of C columns of positions, its command in the column's own terms."""

    pairs: Pairs
    signs: Float
    """(C,)."""
    scales: Float
    """(C,) rad in one unit of the command."""
    offsets: Float
    """(C,) rad, 0 where the command has the zero of its column."""


def command_kind(raw: RawMotion, body: RobotBody, said: CommandKind | None) -> CommandKind:
    """What commands are: as their name says, positions where the joints follow them, else efforts."""
    if said is not None or not raw.command.size:
        return said or "position"
    return "position" if body.servo or raw.command_pairs().mean > FOLLOWS else "effort"


def servo_of(raw: RawMotion) -> Servo:
    """How each column's command relates to it."""
    pairs = raw.command_pairs()
    paired = pairs.others >= 0
    signs = np.where(pairs.correlation < 0, -1.0, 1.0)
    distance = np.abs(np.log(np.outer(UNITS, pairs.ratio)))
    scales = np.array(UNITS)[distance.argmin(axis=0)]
    offsets = np.zeros(len(signs))
    for column in np.flatnonzero(paired):
        asked = signs[column] * scales[column] * raw.command[:, pairs.others[column]]
        apart = float(np.median(raw.position[:, column] - asked))
        offsets[column] = apart if abs(apart) > APART else 0.0
    return Servo(pairs, signs, scales, offsets)


def servo_errors(raw: RawMotion, servo: Servo, delay: float = 0.0) -> Float:
    """How far (T, C) each column's command is ahead of it, `delay` seconds later; 0 where it has no command."""
    command = later(raw, raw.command, delay)
    found = np.zeros_like(raw.position)
    for column, other in enumerate(servo.pairs.others.tolist()):
        if other >= 0:
            asked = servo.signs[column] * servo.scales[column] * command[:, other] + servo.offsets[column]
            found[:, column] = asked - raw.position[:, column]
    return found


def later(raw: RawMotion, values: Float, delay: float) -> Float:
    """Values (T, k) that act `delay` seconds later; gaps are so rare that rows beside them may be wrong."""
    if not delay:
        return values
    rows = np.arange(len(values), dtype=np.float64)
    at = rows - delay / raw.log.dt
    return np.stack([np.interp(at, rows, values[:, column]) for column in range(values.shape[1])], axis=1)


def measured_efforts(raw: RawMotion) -> Float | None:
    """Torques (T, Q) if they can be what a sensor measured with its sign; None where they cannot."""
    torque = raw.torque
    if not torque.shape[1] or torque.shape[1] < raw.position.shape[1]:
        return None
    below, above = np.mean(torque < 0, axis=0), np.mean(torque > 0, axis=0)
    signed = np.minimum(below, above) > ONE_SIDED
    return torque if np.mean(signed) > 0.5 else None
