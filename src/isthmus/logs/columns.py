"""Tables of columns, whose cells hold a number or a list of numbers, to series over the table's time column."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from isthmus.core import Float
from isthmus.logs.series import Series, numbered

CLOCKS = ("timestamp", "time", "t", "stamp", "time_s", "sec", "seconds", "time_us", "time_ms", "time_ns", "elapsed")
"""Names of a time column, in order of preference. A name may end in a unit."""
SCALES = (("_ns", 1e-9), ("_us", 1e-6), ("_ms", 1e-3))
MEMBER = re.compile(r"(.*?)[\[_.]?(\d+)\]?")


def clock_of(names: Sequence[str]) -> str | None:
    """The name of the time column among `names`, if there is one."""
    by_plain_name = {name.strip().lower().lstrip("#"): name for name in names}
    for clock in CLOCKS:
        if clock in by_plain_name:
            return by_plain_name[clock]
    return next((name for plain, name in by_plain_name.items() if plain.startswith(("time", "stamp"))), None)


def seconds(name: str, time: Float) -> tuple[Float, str | None]:
    """A time column in seconds, and what was assumed where its unit had to be guessed from its size.

    Robots log between 1 Hz and 20 kHz. A median step outside that range is in another unit.
    """
    for suffix, scale in SCALES:
        if name.lower().endswith(suffix):
            return time * scale, None
    steps = np.diff(time)
    steps = steps[steps > 0]
    if not len(steps):
        return time, None
    step = float(np.median(steps))
    for unit, scale in (("seconds", 1.0), ("milliseconds", 1e-3), ("microseconds", 1e-6), ("nanoseconds", 1e-9)):
        if step * scale <= 1.0:
            if scale == 1.0:
                return time, None
            return time * scale, f"{name} is taken to be in {unit}: it advances by {step:.4g} a sample"
    return time, None


def by_prefix(columns: Mapping[str, Float], time: Float) -> list[Series]:
    """One series for each group of scalar columns `q_0, q_1, ...` or `q[0], q[1], ...`, and one for each other column.

    The numbers have to run from 0 or 1 without a gap; otherwise the columns stand for themselves.
    """
    groups: dict[str, dict[int, str]] = {}
    for name in columns:
        found = MEMBER.fullmatch(name)
        if found and columns[name].ndim == 1 and found[1]:
            groups.setdefault(found[1], {})[int(found[2])] = name
    grouped = {
        prefix: [members[number] for number in sorted(members)]
        for prefix, members in groups.items()
        if len(members) > 1 and sorted(members) == list(range(min(members), min(members) + len(members)))
        if min(members) <= 1 and prefix not in columns
    }
    inside = {name for members in grouped.values() for name in members}
    series = [
        Series(prefix, time, np.stack([columns[name] for name in members], axis=1), tuple(members))
        for prefix, members in grouped.items()
    ]
    for name, values in columns.items():
        if name not in inside:
            flat = values.reshape(len(values), -1)
            series.append(Series(name, time, flat, (name,) if values.ndim == 1 else numbered(flat.shape[1])))
    return series
