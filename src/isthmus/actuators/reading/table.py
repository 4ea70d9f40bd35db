"""Files as tables: named columns (T,) or (T, k), and what a file says besides. Nothing in a file is executed."""

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io.bounded import Unreadable, parse_npy, unpack
from isthmus.io.regular import open_regular, read_regular

LARGEST = 256 << 20
"""Bytes of a text file."""
STATES, CONTROLS, JOINTS = "state_motor.csv", "control.csv", "joint_list.txt"


@dataclass(frozen=True)
class Table:
    """The columns of a recording, all equally long, and single numbers and names beside them."""

    path: Path
    columns: dict[str, Float]
    facts: dict[str, float] = field(default_factory=dict[str, float])
    arrays: dict[str, Float] = field(default_factory=dict[str, Float])
    """Short arrays that are no columns, as gains of the joints."""
    joints: tuple[str, ...] = ()


def read_table(path: Path) -> Table:
    """The table in an npz, CSV or JSON file, or in a folder with control.csv and state_motor.csv."""
    try:
        if path.is_dir():
            return _folder(path)
        if path.suffix == ".npz":
            return _npz(path)
        if path.suffix == ".csv":
            return _csv(path)
        if path.suffix == ".json":
            return _json(path)
    except FileNotFoundError as error:
        raise Problem(f"there is no log at {path}") from error
    except OSError as error:
        raise Problem(f"cannot read the log {path}: {error.strerror}") from error
    except (Unreadable, ValueError, RecursionError, MemoryError) as error:
        raise Problem(f"{path} is not a log that can be read: {str(error)[:160]}") from error
    raise Problem(f"cannot read {path}: a log is an .npz, .csv or .json file, or a folder with {CONTROLS} and {STATES}")


def _npz(path: Path) -> Table:
    with open_regular(path, follow=True) as file:
        entries = unpack(file)
    arrays = {name.removesuffix(".npy"): parse_npy(content) for name, content in entries.items()}
    numbers = {name: np.asarray(array, np.float64) for name, array in arrays.items() if array.dtype.kind in "fiub"}
    rows = max((len(array) for array in numbers.values() if array.ndim), default=0)
    columns = {name: array for name, array in numbers.items() if array.ndim in (1, 2) and len(array) == rows}
    short = {name: array for name, array in numbers.items() if array.ndim == 1 and len(array) != rows}
    facts = {name: float(array) for name, array in numbers.items() if array.ndim == 0}
    named = [array for array in arrays.values() if array.dtype.kind == "U" and array.ndim == 1]
    joints = tuple(str(name) for name in named[0]) if len(named) == 1 else ()
    return Table(path, columns, facts, short, joints)


def _csv(path: Path) -> Table:
    text = read_regular(path, limit=LARGEST, follow=True).decode("utf-8-sig")
    rows = csv.reader(io.StringIO(text))
    header = [name.strip() for name in next(rows, list[str]())]
    if not header or _is_number(header[0]):
        raise Problem(f"{path} has no header: its first line must name the columns")
    cells = [row for row in rows if row]
    for number, row in enumerate(cells, start=2):
        if len(row) != len(header):
            raise Problem(f"line {number} of {path} has {len(row)} cells, its header has {len(header)}")
    columns: dict[str, Float] = {}
    for place, name in enumerate(header):
        column = [row[place] for row in cells]
        if column and (_is_number(column[0]) or column[0].lstrip().startswith("[")):
            columns[name] = _column(column, name, path)
    return Table(path, columns)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(cells: list[str], name: str, path: Path) -> Float:
    """Numbers, or lists of them, in the cells of one column; an empty cell is not a number."""
    try:
        if cells[0].lstrip().startswith("["):
            return np.array([json.loads(cell) for cell in cells], dtype=np.float64)
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError as error:
        raise Problem(f"column {name!r} of {path} has a cell that is not a number: {str(error)[:80]}") from error


def _json(path: Path) -> Table:
    """An object with a list of rows, each an object of numbers; what stands beside the list are facts."""
    value: object = json.loads(read_regular(path, limit=LARGEST, follow=True).decode("utf-8"))
    if not isinstance(value, dict):
        raise Problem(f"{path} holds no JSON object with a list of samples")
    named = cast("dict[str, Any]", value)
    lists = [key for key, inner in named.items() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    if len(lists) != 1:
        raise Problem(f"{path} holds {len(lists)} lists of samples, expected one list of objects")
    rows = cast("list[dict[str, Any]]", named[lists[0]])
    names = [name for name, cell in rows[0].items() if isinstance(cell, int | float | list)]
    if any(not set(names) <= row.keys() for row in rows):
        raise Problem(f"the samples of {path} do not all have {', '.join(names)}")
    columns = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}
    facts = {key: float(one) for key, one in named.items() if isinstance(one, int | float)}
    return Table(path, columns, facts)


def _folder(path: Path) -> Table:
    """Commands and states in files of their own, with time stamps in microseconds."""
    if not (path / CONTROLS).is_file() or not (path / STATES).is_file():
        raise Problem(f"{path} is no recording: a folder of one has {CONTROLS} and {STATES}")
    asked, states = _csv(path / CONTROLS), _csv(path / STATES)
    when = states.columns["timestamp"]
    rows = np.clip(np.searchsorted(asked.columns["timestamp"], when, side="right") - 1, 0, None)
    columns = {"time": when / 1e6} | {name: one for name, one in states.columns.items() if name != "timestamp"}
    columns |= {f"control {name}": one[rows] for name, one in asked.columns.items() if name != "timestamp"}
    names = path / JOINTS
    joints = tuple(names.read_text().split()) if names.is_file() else ()
    return Table(path, columns, joints=joints)
