"""Time columns: which column is the clock, what unit it is in, and recordings whose clock begins anew."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from isthmus.core import Float

CLOCKS = (
    *("timestamp", "time", "t", "stamp", "time_stamp", "elapsed", "elapsed_time", "seconds", "secs", "sec"),
    *("sim_time", "ros_time", "unix_time", "wall_time", "epoch", "clock"),
)
"""Names of a time column without its unit, in order of preference."""
UNIT = re.compile(r"^(.+?)[\s_.]*[\[(]?\s*(?<![a-zµ])(ns|nsec|us|µs|usec|ms|msec|s|sec|secs|seconds)\s*[\])]?$")
SCALES = {"ns": 1e-9, "nsec": 1e-9, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3}
"""Seconds in a unit that a name may end in; the others are seconds."""
STEPS = (("seconds", 1.0, 1.0), ("milliseconds", 1e-3, 0.2), ("microseconds", 1e-6, 0.2), ("nanoseconds", 1e-9, 1.0))
"""Units, and the longest step in seconds for which one is believed: robots log between 1 Hz and 20 kHz."""
EPISODES = ("episode", "episode_index", "episode_id")
"""Names of a column that tells recordings apart."""
APART = 1.0
"""Seconds between two recordings that share a file."""
BACK = 10
"""Median steps that a clock has to go back by to have begun anew; less is a row out of order."""
WHOLE = re.compile(r"(.*?)(?:secs?|seconds)")
"""A column with the whole seconds of a time stamp in two columns."""
RESTS = ("nanosec", "nanosecs", "nsec", "nsecs", "nanoseconds")
"""What the other column of such a stamp is called."""
DAY = 86400.0
FEWEST = 8
"""Rows of a recording, on average, without which a clock that goes back is a bad clock."""


def clock_of(names: Sequence[str]) -> str | None:
    """The name of the time column among `names`, if there is one."""
    plain = {name: name.strip().lower().lstrip("#%").strip(" _") for name in names}
    last = {name: one.rsplit(".", 1)[-1] for name, one in plain.items()}  # of a path
    for of in (plain, {name: _unit(one)[0] for name, one in plain.items()}, last):
        for clock in CLOCKS:
            if found := [name for name, one in of.items() if one == clock]:
                return found[0]
    ends = ("timestamp", "time_stamp")
    return next((name for name, one in plain.items() if one.startswith(("time", "stamp")) or one.endswith(ends)), None)


def seconds(name: str, time: Float) -> tuple[Float, str | None]:
    """A time column in seconds, and what was assumed where its unit had to be guessed from its size."""
    if unit := _unit(name.strip().lower())[1]:
        return time * SCALES.get(unit, 1.0), None
    steps = np.diff(time)
    steps = steps[steps > 0]
    if not len(steps):
        return time, None
    step = float(np.median(steps))
    for unit, scale, longest in STEPS:
        if step * scale <= longest:
            said = f"{name} is taken to be in {unit}: it advances by {step:.4g} a sample"
            return time * scale, None if scale == 1.0 else said
    return time, None


def moments(cells: Sequence[str]) -> Float | None:
    """Dates as 2024-05-01T12:00:00.5Z, or times of day as 12:00:00.5, in seconds (T,); None where one is neither.

    An empty cell is NaN. A time of day goes on past midnight. Dates without a time zone are taken to be in UTC.
    """
    found = np.array([_moment(cell.strip()) if cell.strip() else np.nan for cell in cells], np.float64)
    if np.isinf(found).any() or np.isnan(found).all():
        return None
    known = np.isfinite(found)
    if np.nanmax(found) < DAY:
        turned = np.cumsum(np.diff(found[known], prepend=found[known][0]) < -DAY / 2)
        found[known] += DAY * turned
    return found


def _moment(cell: str) -> float:
    """Seconds since 1970 of a date, or since midnight of a time of day; infinity where it is neither."""
    plain = cell.replace("/", "-").replace(",", ".")
    try:
        moment = datetime.fromisoformat(plain if "-" in plain else f"1970-01-01 {plain}" if ":" in plain else "")
    except ValueError:
        return np.inf
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def with_whole_stamps(columns: Mapping[str, Float]) -> dict[str, Float]:
    """Stamps in seconds, where they are in two columns as ROS has them: `sec` and `nanosec`, or `secs` and `nsecs`."""
    pairs = {
        name: rest
        for name, values in columns.items()
        if values.ndim == 1 and (found := WHOLE.fullmatch(name))
        if (rest := next((found[1] + one for one in RESTS if found[1] + one in columns), ""))
    }
    made = {
        f"{name[: name.rindex('sec')]}time": values + 1e-9 * columns[pairs[name]]
        for name, values in columns.items()
        if name in pairs
    }
    return made | {name: values for name, values in columns.items() if name not in {*pairs, *pairs.values(), *made}}


def one_after_the_other(time: Float, columns: dict[str, Float], notes: list[str]) -> Float:
    """Times (T,) whose clock begins anew, each time after the last recording.

    The recordings are told apart by a column `episode`, unless there is one, and a note says what was done.
    """
    steps = np.diff(time)
    forward = steps[steps > 0]
    if not len(forward):
        return time
    anew = np.flatnonzero(steps < -BACK * float(np.median(forward))) + 1
    if not len(anew) or len(time) < FEWEST * (len(anew) + 1):
        return time
    moved = time.copy()
    for first, end in zip(anew, [*anew[1:], len(time)], strict=True):
        moved[first:end] = time[first:end] - time[first] + moved[first - 1] + APART
    if not {*EPISODES} & columns.keys():
        columns[EPISODES[0]] = np.searchsorted(anew, np.arange(len(time)), side="right").astype(np.float64)
    times = "once" if len(anew) == 1 else f"{len(anew)} times"
    notes.append(f"its clock begins anew {times}: the recordings are put one after the other, {APART:g} s apart")
    return moved


def _unit(plain: str) -> tuple[str, str]:
    """A name without its unit, and the unit; the unit is empty where the name has none."""
    found = UNIT.match(plain)
    return (found[1], found[2]) if found else (plain, "")
