"""Tables of columns, whose cells hold a number or a list of numbers, to series over the table's time column."""

import re
from collections.abc import Mapping

import numpy as np

from isthmus.core import Float
from isthmus.logs.series import Series, numbered

MEMBER = re.compile(r"(.*?)[\[_.]?(\d+)\]?")


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
