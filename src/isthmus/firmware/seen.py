"""From a run to what the invariants judge: everything at the times at which it was measured."""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float, Int
from isthmus.firmware.board import Board
from isthmus.firmware.loop import Counters
from isthmus.firmware.record import Record
from isthmus.firmware.robot import load_body

WINDOW = 5.0
"""Seconds over which the age of the firmware's knowledge is estimated."""
MOVING = 0.2
"""rad/s: how fast joints must move, root mean square, for an age to be told from their motion."""
OLDEST_MS = 20.0
"""An age beyond this is a fault, and no errors are excused by it."""
FEWEST = 60
"""Telemetry frames for such an estimate."""


@dataclass(frozen=True)
class Seen:
    """A run as the invariants see it. None: nothing measures it."""

    time: Float
    """(T,) of the physics steps, s."""
    asked: Float
    """(T, J) torque that the last command asks for."""
    joint_velocity: Float
    command_age: Float
    """(T, J) seconds since the motor last heard a command; NaN before the first."""
    upright: Float | None = None
    """(T,) cosine of the trunk's tilt."""
    told_time: Float | None = None
    """(N,) of the telemetry frames, s."""
    attitude_error: Float | None = None
    """(N,) angle between the true vertical and the firmware's, rad."""
    joint_error: Float | None = None
    """(N, J) between the joint angle that the firmware reports and the true one, rad."""
    velocity_error: Float | None = None
    """(N, J) and between the joint velocities, rad/s."""
    estop: Float | None = None
    """(N,) what the firmware says of itself: not zero once it has stopped."""
    data_age_at: Float | None = None
    data_age_ms: Float | None = None
    """(W,) how old the firmware's joint angles are on average, and the end of the window it was found in."""
    instructions_per_ms: float | None = None
    watchdog_resets: int = 0


def vertical_of(quaternion: Float) -> Float:
    """Where the world's up is in the body's frame (T, 3), for attitudes (T, 4) with the scalar first."""
    w, x, y, z = (quaternion[:, i] for i in range(4))
    return np.stack([2 * (x * z - w * y), 2 * (w * x + y * z), w * w - x * x - y * y + z * z], axis=1)


def attitude_error(estimated: Float, true: Float) -> Float:
    """The angle between the two verticals (T,), rad: heading does not count, for nothing measures it."""
    a, b = vertical_of(estimated), vertical_of(true)
    length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosine = np.einsum("ij,ij->i", a, b) / np.where(length > 0, length, 1.0)
    return np.where(length > 0, np.arccos(np.clip(cosine, -1.0, 1.0)), np.pi)


def upright(quaternion: Float) -> Float:
    """The cosine of the tilt (T,)."""
    return vertical_of(quaternion)[:, 2]


def at_times(when: Float, time: Float, values: Float) -> Float:
    """Values (T, k) of a record, interpolated to the times (N,) of telemetry."""
    out = np.zeros((len(when), values.shape[1]))
    for k in range(values.shape[1]):
        out[:, k] = np.interp(when, time, values[:, k])
    return out


def data_age_ms(error: Float, velocity: Float, when: Float) -> tuple[Float, Float]:
    """How old the joint angles are that the firmware works with, ms, from how far they lag behind the motion.

    The lag e = q - told of a joint that moves at v is v times the age, so that the age is sum(v e) / sum(v v) over all
    joints and a window of time; a corrupted angle is left out. Returns the windows' ends (W,) and ages (W,).
    """
    ends: list[float] = []
    ages: list[float] = []
    begins: Float = np.arange(when[0], when[-1] - WINDOW / 2, WINDOW) if len(when) else np.zeros(0)
    for begin in begins.tolist():
        rows = (when >= begin) & (when < begin + WINDOW)
        v, e = velocity[rows], error[rows]
        sane = np.abs(e) < 0.1
        if np.count_nonzero(rows) > FEWEST and sane.any() and np.sqrt(np.mean(v[sane] ** 2)) > MOVING:
            ends.append(begin + WINDOW)
            ages.append(1e3 * float(np.sum(v[sane] * e[sane]) / np.sum(v[sane] ** 2)))
    return np.array(ends), np.array(ages)


def seen_of(record: Record, counters: Counters | None, board: Board) -> Seen:
    """What can be known of a run from outside; without counters, nothing of the processor."""
    body = load_body(board)
    told = np.flatnonzero(np.diff(record.telemetry_time, prepend=np.nan) != 0)
    told = told[np.isfinite(record.telemetry_time[told])]
    position = record.qpos[:, body.qpos] if body else np.zeros_like(record.asked)
    velocity = record.qvel[:, body.dof] if body else np.zeros_like(record.asked)
    attitude = record.truth_attitude if np.isfinite(record.truth_attitude).all() else None
    seen = Seen(record.time, record.asked, velocity, record.command_age)
    if attitude is not None:
        seen = replace(seen, upright=upright(attitude))
    if len(told):
        seen = _with_telemetry(seen, record, told, position, attitude)
    if counters is None:
        return seen
    used = counters.instructions / max(counters.seconds, 1e-9) * 1e-3
    return replace(seen, instructions_per_ms=used, watchdog_resets=counters.watchdog_resets)


def _with_telemetry(seen: Seen, record: Record, told: Int, position: Float, attitude: Float | None) -> Seen:
    arrived = record.telemetry_time[told]
    lag, velocity = _lag(arrived, record, told, position, seen.joint_velocity)
    ends, ages = data_age_ms(lag, velocity, arrived)
    # What the firmware says is compared with what was true when it was measured.
    when = arrived - np.clip(np.median(ages), 0, OLDEST_MS) * 1e-3 if len(ages) else arrived
    lag, velocity = _lag(when, record, told, position, seen.joint_velocity)
    if attitude is not None:
        trunk = at_times(when, record.time, attitude)
        seen = replace(seen, attitude_error=attitude_error(record.telemetry_attitude[told], trunk))
    return replace(
        seen,
        told_time=arrived,
        joint_error=lag,
        velocity_error=velocity - record.telemetry_velocity[told],
        estop=record.telemetry_estop[told],
        data_age_at=ends,
        data_age_ms=ages,
    )


def _lag(when: Float, record: Record, told: Int, position: Float, velocity: Float) -> tuple[Float, Float]:
    """How far the firmware's joint angles are behind the true ones (N, J) at times (N,), and the true velocities."""
    true, moving = (at_times(when, record.time, values) for values in (position, velocity))
    return true - record.telemetry_position[told], moving
