"""A log as recorded observations: columns by name, episode by episode, at the control rate."""

import re
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Problem
from isthmus.logs.clocks import EPISODES
from isthmus.logs.resample import measured_at
from isthmus.logs.series import Log, Series

WHOLE = ("observation", "observations", "obs", "state", "observation.state")
"""Names of a series that holds whole observations."""
GAP = 1.5
"""Times the usual step from which on something is missing between two samples."""
SAME_RATE = 0.01
"""Relative difference of two rates that are the same."""
VELOCITY = " velocity"
POSITIONS = ("position", "positions", "qpos", "q")
VELOCITIES = ("velocity", "velocities", "qvel", "dq")
NOT_OBSERVED = ("effort", "efforts", "torque", "torques", "current", "action", "actions", "command", "commands")
"""Last words of the names of series: their components are joints, and no positions."""
SHORTEST = 3
"""Samples of an episode."""


@dataclass(frozen=True)
class RecordedObservations:
    """What a log holds of a robot's observations."""

    tracks: tuple[Float, ...]
    """Each (T, obs), one control period apart."""
    notes: tuple[str, ...]
    """What was assumed or changed, a sentence each."""


def observations_of(log: Log, names: tuple[str, ...], period: float) -> RecordedObservations:
    """The columns `names` of `log`, in that order, resampled to one row every `period` seconds.

    A velocity that is missing is differentiated from its position. Columns that nobody asked for are left out.
    """
    notes: list[str] = []
    time, values, derived = _columns(log, names, notes)
    tracks: list[Float] = []
    for number, rows in enumerate(_episodes(log, time)):
        _check(log, number, time[rows], values[rows], names, derived)
        tracks.append(_at_rate(log, number, time[rows], values[rows], names, derived, period))
    rate = 1 / float(np.median(np.diff(time)))
    if abs(rate * period - 1) > SAME_RATE:
        notes.append(f"it was recorded at {rate:.4g} Hz, and is resampled to the control rate of {1 / period:.4g} Hz")
    return RecordedObservations(tuple(tracks), tuple(notes))


def _columns(log: Log, names: tuple[str, ...], notes: list[str]) -> tuple[Float, Float, list[int]]:
    """Times (T,), values (T, obs), and which of the names are velocities that are to be differentiated."""
    found: dict[str, tuple[Series, int]] = {}
    for series in log.series.values():
        for column, label in enumerate(series.labels):
            for one in _spellings(series, label):
                found.setdefault(_plain(one), (series, column))
    derived = [
        i
        for i, name in enumerate(names)
        if _plain(name) not in found and name.endswith(VELOCITY) and _plain(name.removesuffix(VELOCITY)) in found
    ]
    missing = [name for i, name in enumerate(names) if _plain(name) not in found and i not in derived]
    if missing:
        return _whole(log, names, missing, notes)
    chosen = [found[_plain(name.removesuffix(VELOCITY) if i in derived else name)] for i, name in enumerate(names)]
    time = chosen[0][0].time
    if any(len(series.time) != len(time) or not np.array_equal(series.time, time) for series, _ in chosen):
        raise Problem(f"the columns of {log.path} are not sampled at the same moments: put them into one table")
    if derived:
        notes.append(f"velocities are differentiated from positions: {', '.join(names[i] for i in derived)}")
    values = np.stack([series.values[:, column] for series, column in chosen], axis=1)
    return time, values, derived


def _spellings(series: Series, label: str) -> list[str]:
    """The names that a column may be asked for by. A topic need not be named, and neither need positions be."""
    short = _without_topic(series.name)
    if label.isdigit():
        return [series.name, short] if len(series.labels) == 1 else [f"{series.name}.{label}"]
    first, *rest = _plain(label).split() or [""]
    kind = _plain(short).split()[-1:]
    whole = [f"{series.name}.{label}"]
    if rest and first in POSITIONS:
        return [*whole, label, " ".join(rest)]
    if rest and first in VELOCITIES:
        return [*whole, label, " ".join(rest) + VELOCITY]
    if label != series.name and kind and kind[0] in VELOCITIES:
        return [*whole, label + VELOCITY]
    if label != series.name and kind and kind[0] in NOT_OBSERVED:
        return whole
    return [*whole, label]


def _without_topic(name: str) -> str:
    """The name of a field: `/joint_states.position` is `position`."""
    return name.split(".", 1)[-1] if name.startswith("/") else name


def _holds(series: Series, names: tuple[str, ...]) -> bool:
    """Whether a series has one of these names, with or without its topic."""
    name = series.name.lower()
    topic = name.removesuffix(".data").rsplit("/", 1)[-1]
    return bool({name, _without_topic(name), topic} & set(names))


def _whole(log: Log, names: tuple[str, ...], missing: list[str], notes: list[str]) -> tuple[Float, Float, list[int]]:
    """A series of whole observations without names, which are taken to be in the robot's order."""
    series = next((one for one in log.series.values() if _holds(one, WHOLE)), None)
    if series is None:
        some = ", ".join(label for one in log.series.values() for label in one.labels if not label.isdigit())[:200]
        raise Problem(
            f"{log.path} has no column {missing[0]!r}: its columns must be named as the robot's observations "
            f"({', '.join(names[:4])}, ...), it has {some or ', '.join(log.series)[:200]}"
        )
    if not all(label.isdigit() for label in series.labels) and set(map(_plain, series.labels)) != set(
        map(_plain, names)
    ):
        raise Problem(f"{series.name} of {log.path} has no component {missing[0]!r}: it is of another robot")
    if len(series.labels) != len(names):
        raise Problem(
            f"{series.name} of {log.path} has {len(series.labels)} columns, and an observation of the robot has "
            f"{len(names)}"
        )
    notes.append(f"the columns of {series.name} have no names, and are taken to be in the robot's order")
    return series.time, series.values, []


def _episodes(log: Log, time: Float) -> list[slice]:
    """The rows of each episode."""
    marks = next((one for one in log.series.values() if _holds(one, EPISODES)), None)
    if marks is None or len(marks.time) != len(time):
        return [slice(0, len(time))]
    begins = np.flatnonzero(np.diff(marks.values[:, 0], prepend=np.nan) != 0)
    return [slice(int(first), int(end)) for first, end in zip(begins, [*begins[1:], len(time)], strict=True)]


def _check(log: Log, number: int, time: Float, values: Float, names: tuple[str, ...], derived: list[int]) -> None:
    """Refuse an episode that is too short, has holes, or goes back in time."""
    where = f"episode {number} of {log.path}"
    if len(time) < SHORTEST:
        raise Problem(f"{where} has {len(time)} samples, at least {SHORTEST} are needed")
    kept = np.setdiff1d(np.arange(len(names)), derived)
    if not np.isfinite(values[:, kept]).all():
        row, column = np.argwhere(~np.isfinite(values[:, kept]))[0]
        raise Problem(
            f"{where} has no number for {names[kept[column]]!r} at {time[row]:.4g} s (row {row}): cut the episode "
            "there, or fill in what is missing"
        )
    steps = np.diff(time)
    if not (steps > 0).all():
        at = int(np.argmax(steps <= 0))
        raise Problem(f"{where} goes back in time after {time[at]:.4g} s: mark its episodes by a column named episode")
    usual = float(np.median(steps))
    if steps.max() > GAP * usual:
        at = int(np.argmax(steps > GAP * usual))
        raise Problem(
            f"{where} has a gap of {steps[at]:.3g} s at {time[at]:.4g} s, where samples are {usual:.3g} s apart: mark "
            "what lies on both sides as two episodes by a column named episode"
        )


def _at_rate(
    log: Log, number: int, time: Float, values: Float, names: tuple[str, ...], derived: list[int], period: float
) -> Float:
    """An episode (T, obs) with one row every `period` seconds."""
    count = int(np.floor((time[-1] - time[0]) / period + 1e-6)) + 1
    if count < SHORTEST:
        raise Problem(
            f"episode {number} of {log.path} lasts {time[-1] - time[0]:.3g} s, which is {count} control periods of "
            f"{period:g} s: at least {SHORTEST} are needed"
        )
    step = float(np.median(np.diff(time)))
    if derived:
        values = values.copy()
        values[:, derived] = np.gradient(values[:, derived], time, axis=0)
    if abs(step / period - 1) <= SAME_RATE:
        return values
    even = time[0] + period * np.arange(count)
    return np.stack([measured_at(even, time, values[:, column]) for column in range(len(names))], axis=1)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
