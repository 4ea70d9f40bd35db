"""From files to one checked log."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.actuators.log import ActuatorLog, joined
from isthmus.actuators.reading.checks import check_log, out_of_step, refresh_period
from isthmus.actuators.reading.mapping import Mapping, guess
from isthmus.actuators.reading.table import Table, read_table
from isthmus.core import Bool, Float, Int, Problem

GAP = 5.0
"""Sample times that a recording may miss before it counts as two."""
NOMINAL = 2e-3
"""A clock that is off by less is one of a whole number of Hz."""
SHORTEST = 0.25
"""Seconds of a segment that is worth keeping."""
GAIN = "kp"
"""The fact, beside the samples, that says how stiff the drive was set."""
ROUNDING = 1e-9
"""Changes of a position below this are those of its last digits."""


@dataclass(frozen=True)
class Reading:
    """A log as it was read."""

    log: ActuatorLog
    mapping: Mapping
    notes: tuple[str, ...]
    """What a reader should know: guesses, repeated samples, torques that were not measured."""
    facts: dict[str, float]
    """Single numbers that all files agree on, as the mass of a pendulum."""
    resolution: Float
    """(J,) rad: the smallest change of a position between two rows of a file, before any interpolation."""


def read_logs(
    paths: list[Path],
    mapping: Mapping | None = None,
    *,
    joints: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    rate: float | None = None,
    kp: Float | None = None,
    kd: Float | None = None,
    angle: str | None = None,
) -> Reading:
    """All files as one log, each a segment of its own; the first decides which column is what."""
    if not paths:
        raise Problem("there is nothing to read: give at least one log")
    tables = [read_table(path) for path in paths]
    mapping = mapping or guess(tables[0], joints)
    mapping = replace(mapping, angle=angle or mapping.angle, joints=joints or mapping.joints)
    notes = [f"guessed {reason}" for reason in mapping.reasons]
    gains = [table.facts.get(GAIN, np.nan) for table in tables]
    several = np.isfinite(gains).all() and len(set(gains)) > 1
    logs = [
        _log(table, mapping, rate, notes, gains[number] / max(gains) if several else None)
        for number, table in enumerate(tables)
    ]
    rates = sorted(1 / one.dt for one in logs)
    if rates[-1] > 1.02 * rates[0]:
        common = max(one.dt for one in logs)
        if rates[-1] > 2.5 * rates[0]:
            raise Problem(f"logs at {rates[0]:.0f} Hz and {rates[-1]:.0f} Hz are too different: fit them separately")
        notes.append(f"the files have {rates[0]:.0f} to {rates[-1]:.0f} Hz: all are taken at {1 / common:.0f} Hz")
        logs = [_at(one, common) for one in logs]
    log = joined([replace(one, dt=logs[0].dt) for one in logs])
    arrays = tables[0].arrays
    log = replace(
        log,
        kp=_gain(kp, arrays.get("kp"), log) if log.command == "position" else None,
        kd=_gain(kd, arrays.get("kd"), log) if log.command == "position" else None,
    )
    log = _without(log, without)
    notes += check_log(log)
    log = _believable_torque(log, notes)
    if step := out_of_step(log):
        notes.append(f"{step}: channels of this log do not belong together row by row")
    log = _thinned(log, notes)
    facts = {
        name: value
        for name, value in tables[0].facts.items()
        if all(table.facts.get(name) == value for table in tables)
    }
    return Reading(log, mapping, tuple(dict.fromkeys(notes)), facts, _resolution(tables, mapping, without))


def _resolution(tables: list[Table], mapping: Mapping, without: tuple[str, ...]) -> Float:
    recorded = [position for table in tables if (position := _columns(table, mapping, "position")) is not None]
    moves = np.concatenate([np.abs(np.diff(position, axis=0)) for position in recorded])
    smallest = np.min(np.where(moves > ROUNDING, moves, np.inf), axis=0, initial=np.inf)
    kept = [number for number in range(len(smallest)) if not mapping.joints or mapping.joints[number] not in without]
    return smallest[kept] * (np.pi / 180 if mapping.angle == "deg" else 1.0)


def _log(table: Table, mapping: Mapping, rate: float | None, notes: list[str], gain: float | None) -> ActuatorLog:
    target, position = (_columns(table, mapping, role) for role in ("target", "position"))
    if target is None or position is None:
        raise Problem(f"{table.path} has no target or no position")
    size = position.shape[1]
    target = target[:, :size] if mapping.command == "effort" and target.shape[1] == 1 else target
    velocity, torque = (_columns(table, mapping, role) for role in ("velocity", "torque"))
    for name, one in (("target", target), ("velocity", velocity), ("torque", torque)):
        if one is not None and one.shape[1] != size:
            raise Problem(f"{table.path} has {size} positions and {one.shape[1]} of {name} in a row")
    scale = np.pi / 180 if mapping.angle == "deg" else 1.0
    time, dt = _times(table, mapping, rate, len(position))
    for name, one in (("target", target), ("position", position), ("velocity", velocity), ("torque", torque)):
        _check_finite(one, name, table, mapping)
    if velocity is None:
        velocity = np.gradient(position, time, axis=0)
        notes.append("there is no velocity: it is the change of the position")
    names = mapping.joints or tuple(f"joint {number}" for number in range(size))
    if len(names) != size:
        raise Problem(f"{table.path} has {size} joints and {len(names)} names were given: {', '.join(names)}")
    enabled = _columns(table, mapping, "enabled")
    keep: Bool = np.ones(len(time), np.bool_) if enabled is None else np.asarray((enabled > 0.5).all(axis=1), np.bool_)
    if not keep.all():
        notes.append(f"rows in which the drive was off are left out ({np.mean(~keep):.0%} of {table.path.name})")
    values = {
        "target": target * (scale if mapping.command == "position" else 1.0),
        "position": position * scale,
        "velocity": velocity * scale,
    }
    if torque is not None:
        values["torque"] = torque
    if gain is not None:
        values["gain"] = np.full_like(position, gain)
    return _uniform(values, time, dt, keep, names, mapping, table.path.stem)


def _columns(table: Table, mapping: Mapping, role: str) -> Float | None:
    names = mapping.columns.get(role)
    if not names:
        return None
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise Problem(f"{table.path} has no column {absent[0]!r} for the {role}; it has {', '.join(table.columns)}")
    parts = [table.columns[name].reshape(len(table.columns[name]), -1) for name in names]
    return np.concatenate(parts, axis=1)


def _check_finite(values: Float | None, name: str, table: Table, mapping: Mapping) -> None:
    if values is None or np.isfinite(values).all():
        return
    row, joint = (int(one) for one in np.argwhere(~np.isfinite(values))[0])
    where = mapping.joints[joint] if joint < len(mapping.joints) else f"joint {joint}"
    raise Problem(
        f"the {name} of {where} is not a number in row {row} of {table.path} "
        f"({np.mean(~np.isfinite(values)):.1%} of all): cut those rows out"
    )


def _times(table: Table, mapping: Mapping, rate: float | None, rows: int) -> tuple[Float, float]:
    """Time stamps (T,) and the usual time between two of them."""
    time = _columns(table, mapping, "time")
    if time is None:
        if rate is None:
            raise Problem(f"{table.path} has no time column: give the rate of its rows with --rate, in Hz")
        return np.arange(rows) / rate, 1 / rate
    stamps = time[:, 0] - time[0, 0]
    steps = np.diff(stamps)
    if (steps < 0).any():
        raise Problem(f"time goes back in row {int(np.argmax(steps < 0)) + 1} of {table.path}")
    dt = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    if not 1e-5 < dt < 1:
        raise Problem(f"the time column of {table.path} steps by {dt:g}: time must be in seconds")
    if abs(round(1 / dt) * dt - 1) < NOMINAL:
        dt = 1 / round(1 / dt)
    if rate is not None and abs(rate * dt - 1) > 0.05:
        raise Problem(f"{table.path} has {1 / dt:.4g} rows a second by its time column, not the {rate:g} of --rate")
    return stamps, dt


def _uniform(
    values: dict[str, Float], time: Float, dt: float, keep: Bool, joints: tuple[str, ...], mapping: Mapping, name: str
) -> ActuatorLog:
    """The samples at even times, in segments without gaps: measurements interpolated, targets held."""
    cuts = np.flatnonzero((np.diff(time) > GAP * dt) | (np.diff(keep.astype(int)) != 0)) + 1
    logs: list[ActuatorLog] = []
    for part in np.split(np.arange(len(time)), cuts):
        if not keep[part[0]] or time[part[-1]] - time[part[0]] < SHORTEST:
            continue
        own = time[part]
        even = own[0] + dt * np.arange(int((own[-1] - own[0]) / dt + 1e-6) + 1)
        place = np.asarray(np.searchsorted(own, even + 1e-3 * dt, side="right"), np.int64) - 1
        held: Int = np.minimum(np.maximum(place, 0), len(own) - 1)
        taken: dict[str, Any] = {
            key: one[part][held] if key in ("target", "gain") else _interpolated(even, own, one[part])
            for key, one in values.items()
        }
        logs.append(ActuatorLog(dt, joints, **taken, names=(name,), command=mapping.command))
    if not logs:
        raise Problem(f"{name} has no motion of {SHORTEST:g} s without a gap in its time stamps")
    return joined(logs)


def _interpolated(even: Float, own: Float, values: Float) -> Float:
    columns = [np.asarray(np.interp(even, own, values[:, column]), np.float64) for column in range(values.shape[1])]
    return np.stack(columns, axis=1)


def _at(log: ActuatorLog, dt: float) -> ActuatorLog:
    """The same motion at another rate."""
    if abs(log.dt - dt) < 1e-9:
        return log
    parts: list[ActuatorLog] = []
    for one in log.segments():
        time: Float = log.dt * np.arange(len(one), dtype=np.float64)
        values = {
            key: value
            for key in ("target", "position", "velocity", "torque", "gain")
            if (value := getattr(one, key)) is not None
        }
        parts.append(
            _uniform(
                values,
                time,
                dt,
                np.ones(len(time), np.bool_),
                log.joints,
                Mapping({"target": ("t",), "position": ("p",)}, command=log.command),
                one.names[0],
            )
        )
    return joined(parts)


def _gain(given: Float | None, found: Float | None, log: ActuatorLog) -> Float | None:
    gain = found if given is None else given
    if gain is None:
        return None
    if gain.size not in (1, len(log.joints)):
        raise Problem(f"{gain.size} gains do not fit {len(log.joints)} joints: give one, or one for each")
    return np.broadcast_to(gain, (len(log.joints),)).astype(np.float64)


def _without(log: ActuatorLog, names: tuple[str, ...]) -> ActuatorLog:
    unknown = sorted(set(names) - set(log.joints))
    if unknown:
        raise Problem(f"the log has no joint {unknown[0]!r}: it has {', '.join(log.joints)}")
    kept = [number for number, joint in enumerate(log.joints) if joint not in names]
    if not names or not kept:
        return log
    cut = {
        name: value[:, kept]
        for name in ("target", "position", "velocity", "torque", "gain")
        if (value := getattr(log, name)) is not None
    }
    gains = {name: value[kept] for name in ("kp", "kd") if (value := getattr(log, name)) is not None}
    return replace(log, joints=tuple(log.joints[number] for number in kept), **cut, **gains)


def _believable_torque(log: ActuatorLog, notes: list[str]) -> ActuatorLog:
    """The log without a torque that nobody measured."""
    if log.torque is None:
        return log
    why = None
    if (log.torque >= 0).all() and (log.velocity < 0).mean() > 0.1:
        why = "has no sign"
    elif log.command == "position":
        size = len(log.joints)
        left = 0.0
        for joint in range(size):
            design = np.column_stack((log.error[:, joint], log.velocity[:, joint], np.ones(len(log))))
            solved = np.linalg.lstsq(design, log.torque[:, joint], rcond=None)[0]
            left += float(
                np.mean(np.square(design @ solved - log.torque[:, joint])) / max(log.torque[:, joint].var(), 1e-12)
            )
        if left / size < 1e-5:
            why = "is exactly a PD law of the other columns, and was computed rather than measured"
    if why is None:
        return log
    notes.append(f"the torque {why}: it is not used, and the fit is by replay")
    return replace(log, torque=None)


def _thinned(log: ActuatorLog, notes: list[str]) -> ActuatorLog:
    """The log at the rate at which its measurements are new."""
    measured = [values for values in (log.position, log.torque) if values is not None]
    every = round(max(refresh_period(values, log) for values in measured))
    if every < 2:
        return log
    notes.append(f"every {every}. row is taken, at {1 / (every * log.dt):.0f} Hz: the others repeat it")
    return _at(log, every * log.dt)
