"""Apply a map to a log: the log in the robot's own terms, at one rate."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Problem
from isthmus.logs.log_map import LogMap, Source
from isthmus.logs.resample import held_mean, measured_at
from isthmus.logs.robot_log import RobotLog
from isthmus.logs.series import Log
from isthmus.logs.velocity_filter import VelocityFilter

GAP = 5.0
"""Median steps of a measurement that may be missing before a new segment begins."""
LONGEST_HOLD = 0.5
"""Seconds without a command after which nobody knows what was commanded, where commands usually come faster."""
SHORTEST = 0.25
"""Seconds of a segment that is worth keeping."""
FEWEST = 8
"""Rows of a segment that is worth keeping."""
NOMINAL = 2e-3
"""A rate that is off by this share is one of a whole number of Hz."""
Span = tuple[float, float]


@dataclass(frozen=True)
class Column:
    """The numbers of one source in the robot's unit, without those that are missing."""

    time: Float
    """(T,) seconds, rising."""
    values: Float
    """(T,)."""

    @property
    def step(self) -> float:
        """Median seconds between two samples."""
        return float(np.median(np.diff(self.time)))


def apply(log_map: LogMap, log: Log) -> RobotLog:
    """The log as joints, actuators and observations of the robot, resampled to one rate.

    Measurements are interpolated, after a low-pass filter where they are faster than the result. Commands hold until
    the next one, and are averaged over each step. Segments end where any of them has a gap.
    """
    position = [column_of(log, one.position) for one in log_map.joints]
    velocity = [None if one.velocity is None else column_of(log, one.velocity) for one in log_map.joints]
    torque = [None if one.torque is None else column_of(log, one.torque) for one in log_map.joints]
    command = [column_of(log, one.command) for one in log_map.actuators]
    seen = {one.name: column_of(log, one.source) for one in log_map.observations}
    measured = [one for one in (*position, *velocity, *torque, *seen.values()) if one is not None]
    dt = 1 / (log_map.rate or nominal_rate(position))
    spans = _spans(log, log_map, measured, command)
    grids = [grid for begin, end in spans if (grid := _grid(position[0], begin, end, dt)) is not None]
    if not grids:
        raise Problem(
            f"{log.path} has no {SHORTEST:g} s without a gap in which all mapped columns have values: see isthmus logs "
            "inspect, and leave out columns that are rarely there"
        )
    starts = tuple(int(start) for start in np.cumsum([0, *(len(grid) for grid in grids[:-1])]))
    positions = _all(position, grids, _unwrapped)
    estimated = [number for number, one in enumerate(velocity) if one is None]
    filtered = VelocityFilter(dt, log_map.velocity_cutoff)
    velocities = _all([p if v is None else v for p, v in zip(position, velocity, strict=True)], grids, measured_at)
    velocities[:, estimated] = filtered.velocities(positions, starts)[:, estimated]
    notes = list(log.notes)
    if estimated:
        names = (
            "all joints" if len(estimated) == len(position) else ", ".join(log_map.joints[n].name for n in estimated)
        )
        notes.append(
            f"velocities of {names} were estimated from positions, by a filter of {log_map.velocity_cutoff:g} Hz"
        )
    if any(one is None for one in torque) and any(one is not None for one in torque):
        notes.append("torques were left out, since not every joint has one")
    return RobotLog(
        dt=dt,
        joints=tuple(one.name for one in log_map.joints),
        time=np.concatenate(grids),
        position=positions,
        velocity=velocities,
        actuators=tuple(one.name for one in log_map.actuators),
        command=_all(command, grids, lambda even, t, v: held_mean(even, dt, t, v)) if command else None,
        command_kind=log_map.command_kind,
        command_delay=log_map.command_delay,
        torque=_all(whole, grids, measured_at) if len(whole := [t for t in torque if t]) == len(torque) else None,
        observations={name: _all([one], grids, measured_at)[:, 0] for name, one in seen.items()},
        starts=starts,
        velocity_filter=filtered if estimated else None,
        kp=_gains([one.kp for one in log_map.actuators]),
        kd=_gains([one.kd for one in log_map.actuators]),
        notes=tuple(notes),
    )


def column_of(log: Log, source: Source) -> Column:
    """The numbers of a source, in order of time; of several at one time the last is kept."""
    series = log[source.series]
    if source.column >= len(series.labels):
        raise Problem(
            f"{source.series} of {log.path.name} has {len(series.labels)} columns, from 0 on: there is no column "
            f"{source.column}"
        )
    values = series.values[:, source.column]
    known = np.isfinite(values) & np.isfinite(series.time)
    order = np.argsort(series.time[known], kind="stable")
    time, values = series.time[known][order], values[known][order]
    last = np.append(np.diff(time) > 0, True) if len(time) else np.zeros(0, np.bool_)
    if np.count_nonzero(last) < 2:
        raise Problem(f"column {source.column} of {source.series} in {log.path.name} has fewer than two values")
    return Column(time[last], source.sign * source.scale * values[last] + source.offset)


def nominal_rate(columns: Sequence[Column]) -> float:
    """The slowest rate of the columns in Hz; a whole number where it is nearly one."""
    rate = 1 / max(one.step for one in columns)
    return float(round(rate)) if round(rate) and abs(round(rate) / rate - 1) < NOMINAL else rate


def _all(columns: Sequence[Column], grids: Sequence[Float], at: Callable[[Float, Float, Float], Float]) -> Float:
    """The columns at the times of all grids (T, n)."""
    if not columns:
        return np.zeros((sum(len(grid) for grid in grids), 0))
    made = [[at(grid, *_around(one, grid)) for one in columns] for grid in grids]
    return np.concatenate([np.stack(part, axis=1) for part in made])


def _around(column: Column, grid: Float) -> tuple[Float, Float]:
    """The samples of a column within a grid, and one to each side of it."""
    begin = max(int(np.searchsorted(column.time, float(grid[0]), side="right")) - 1, 0)
    end = int(np.searchsorted(column.time, float(grid[-1]), side="left")) + 1
    return column.time[begin:end], column.values[begin:end]


def _unwrapped(even: Float, time: Float, values: Float) -> Float:
    """A joint position without jumps of a turn, which an encoder makes where it begins anew."""
    return measured_at(even, time, np.unwrap(values))


def _spans(log: Log, log_map: LogMap, measured: Sequence[Column], commands: Sequence[Column]) -> list[Span]:
    """From when to when all columns have values without a gap, the drives are on and no new episode begins."""
    spans = [(-np.inf, np.inf)]
    for column in measured:
        spans = _both(spans, _without_gaps(column, GAP * column.step))
    for column in commands:
        parts = _without_gaps(column, max(GAP * column.step, LONGEST_HOLD))
        spans = _both(
            spans, [(begin, np.inf if number == len(parts) - 1 else end) for number, (begin, end) in enumerate(parts)]
        )
    for source, keep in ((log_map.enabled, True), (log_map.episode, False)):
        if source is not None:
            column = column_of(log, source)
            spans = _both(spans, _constant(column, only_on=keep))
    return spans


def _without_gaps(column: Column, longest: float) -> list[Span]:
    cuts = np.flatnonzero(np.diff(column.time) > longest)
    begins, ends = [0, *(cuts + 1)], [*cuts, len(column.time) - 1]
    return [(float(column.time[begin]), float(column.time[end])) for begin, end in zip(begins, ends, strict=True)]


def _constant(column: Column, *, only_on: bool) -> list[Span]:
    """From when to when a column keeps its value; `only_on` where that is not 0."""
    values = (column.values != 0).astype(np.float64) if only_on else column.values
    cuts = np.flatnonzero(np.diff(values) != 0)
    begins, ends = [0, *(cuts + 1)], [*cuts, len(values) - 1]
    return [
        (float(column.time[begin]), float(column.time[end]))
        for begin, end in zip(begins, ends, strict=True)
        if not only_on or values[begin] != 0
    ]


def _both(one: Iterable[Span], other: Sequence[Span]) -> list[Span]:
    """Where both lists of spans, which rise, have something in common."""
    found: list[Span] = []
    first, second = list(one), list(other)
    i = j = 0
    while i < len(first) and j < len(second):
        begin, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if begin < end:
            found.append((begin, end))
        if first[i][1] <= second[j][1]:
            i += 1
        else:
            j += 1
    return found


def _grid(column: Column, begin: float, end: float, dt: float) -> Float | None:
    """Even times from the first sample of `column` in a span on; None where the span is too short."""
    first = column.time[np.searchsorted(column.time, begin)] if begin <= column.time[-1] else np.inf
    count = int(np.floor((end - first) / dt + 1e-6)) + 1 if np.isfinite(first) and first < end else 0
    return np.asarray(first + dt * np.arange(count), np.float64) if count >= max(FEWEST, SHORTEST / dt) else None


def _gains(gains: Sequence[float | None]) -> Float | None:
    known: Float = np.array([gain for gain in gains if gain is not None], dtype=np.float64)
    return known if len(known) and len(known) == len(gains) else None
