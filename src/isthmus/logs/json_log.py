"""JSON logs: one object a line, or one object with a list of them, or with a list for each column."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import read_regular
from isthmus.logs.clocks import clock_of, moments, one_after_the_other, seconds, with_whole_stamps
from isthmus.logs.columns import by_prefix
from isthmus.logs.series import Log, make_log

LARGEST = 256 << 20
DEEPEST = 8
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
MOST_PARTS = 64
"""Objects in a list, as the motors of a robot, whose numbers become vectors."""
Row = Mapping[str, Any]


def read_json_log(path: Path) -> Log:
    """The fields of the objects in a JSON or JSON-lines file as series over their time."""
    try:
        text = read_regular(path, limit=LARGEST, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not text in UTF-8 (byte {error.start}): a JSON log has to be") from error
    notes: list[str] = []
    meta: dict[str, str | float] = {}
    rows = _whole(text, meta) or _lines(text, notes) or _cut_off(text, meta, notes)
    if not rows:
        raise Problem(f"{path} is not a JSON log: neither an object with a list of samples nor one object a line")
    columns = with_whole_stamps(_columns(rows, notes))
    clock = clock_of([name for name, values in columns.items() if values.ndim == 1])
    time, assumed = (_dates(path, rows), None) if clock is None else seconds(clock, columns.pop(clock))
    known = np.isfinite(time)
    columns = {name: values[known] for name, values in columns.items()}
    notes += [assumed] if assumed else []
    time = one_after_the_other(time[known], columns, notes)
    return make_log(path, "JSON", by_prefix(columns, time), notes, meta)


def _whole(text: str, meta: dict[str, str | float]) -> list[Row]:
    """The rows of a file that is one JSON value; its single values go to `meta`."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(found, list):
        return _objects(cast("list[Any]", found))
    if not isinstance(found, dict):
        return []
    named = cast("dict[str, Any]", found)
    for name, value in named.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) <= 200:
            meta[name] = value if isinstance(value, str) else float(value)
    lists = [_objects(cast("list[Any]", value)) for value in named.values() if isinstance(value, list)]
    return (max(lists, key=len) if lists else []) or _rows_of(named)


def _cut_off(text: str, meta: dict[str, str | float], notes: list[str]) -> list[Row]:
    """The rows of a file that is one JSON value whose end is missing, up to the last row that is whole."""
    last = text.rfind("}")
    for _ in range(DEEPEST):
        if last < 0:
            return []
        whole = text[: last + 1]
        if rows := _whole(whole + _closing(whole), meta):
            notes.append(f"its end is missing: it was read up to byte {len(whole.encode()):,}")
            return rows
        last = text.rfind("}", 0, last)
    return []


def _closing(text: str) -> str:
    """What closes the lists and objects that are open where a JSON text ends."""
    open_ones: list[str] = []
    for found in TOKEN.finditer(text):
        if found[0] in "[{":
            open_ones.append("]" if found[0] == "[" else "}")
        elif found[0] in "]}" and open_ones:
            open_ones.pop()
    return "".join(reversed(open_ones))


def _dates(path: Path, rows: Sequence[Row]) -> Float:
    """The times of rows whose time is a text, as 2024-05-01T12:00:00Z."""
    texts = dict.fromkeys(name for row in rows for name, value in row.items() if isinstance(value, str))
    name = clock_of([*texts])
    time = None if name is None else moments([str(row.get(name, "")) for row in rows])
    if time is None:
        raise Problem(f"{path} has no time: its objects need a number, or a date, named time or timestamp")
    return time


def _rows_of(named: Mapping[str, Any]) -> list[Row]:
    """The rows of an object that has a list for each column: of the lists by their path, the most of one length."""
    columns = _lists(named, "", 0)
    lengths = [len(one) for one in columns.values()]
    length = max(lengths, key=lengths.count, default=0)
    if length < 2:
        return []
    same = {name: one for name, one in columns.items() if len(one) == length}
    return [dict(zip(same, cells, strict=True)) for cells in zip(*same.values(), strict=True)]


def _lists(named: Mapping[str, Any], prefix: str, depth: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, value in named.items():
        if isinstance(value, list):
            found[f"{prefix}{name}"] = cast("list[Any]", value)
        elif isinstance(value, dict) and depth < DEEPEST:
            found |= _lists(cast("Row", value), f"{prefix}{name}.", depth + 1)
    return found


def _objects(found: list[Any]) -> list[Row]:
    return [cast("Row", one) for one in found if isinstance(one, dict)]


def _lines(text: str, notes: list[str]) -> list[Row]:
    """The rows of a JSON-lines file; what follows the first line that is none is left out, and said."""
    rows: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            if rows:
                notes.append(f"line {number} is not a JSON object: the log was read up to there")
            break
        rows.append(cast("Row", row))
    return rows


def _columns(rows: Iterable[Row], notes: list[str]) -> dict[str, Float]:
    """Numbers (T,) and vectors (T, k) by their path; NaN where a row has none."""
    flat = [flatten(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    columns: dict[str, Float] = {}
    for name in names:
        lengths = {len(row[name]) for row in flat if name in row}
        if len(lengths) != 1:
            notes.append(f"{name} was left out: its length changes from sample to sample")
            continue
        length = lengths.pop()
        missing = [math.nan] * length
        values = np.array([row.get(name, missing) for row in flat])
        columns[name] = values[:, 0] if length == 1 else values
    return columns


def flatten(row: Row, prefix: str = "", depth: int = 0) -> dict[str, list[float]]:
    """The numbers of an object by their path; text and empty lists are left out."""
    found: dict[str, list[float]] = {}
    for name, value in row.items():
        path = f"{prefix}{name}"
        if isinstance(value, int | float):
            found[path] = [_number(value)]
        elif isinstance(value, dict) and depth < DEEPEST:
            found |= flatten(cast("Row", value), f"{path}.", depth + 1)
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            if items and all(isinstance(one, int | float) for one in items):
                found[path] = [_number(one) for one in items]
            elif depth < DEEPEST and 0 < len(items) <= MOST_PARTS and all(isinstance(one, dict) for one in items):
                found |= _abreast([flatten(cast("Row", one), f"{path}.", depth + 1) for one in items])
    return found


def _abreast(parts: Sequence[Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """Numbers that every part has one of, as vectors over the parts."""
    return {
        name: [part[name][0] for part in parts]
        for name in parts[0]
        if all(len(part.get(name, ())) == 1 for part in parts)
    }


def _number(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.nan
