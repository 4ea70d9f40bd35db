"""Results of cells as JSON files, each whole or not there.

cells/NAME.json     the result of a cell, with the settings and the expert that it was computed with
runs/NAME-EXPERT/   a transfer run under way; removed once its cell is stored
"""

import hashlib
import json
import shutil
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

from isthmus.adapt.common.method_names import old_file_name
from isthmus.core import Problem
from isthmus.experiments.grid import Cell, Json
from isthmus.experts import expert_path
from isthmus.io import PARTIAL, check_tree, from_json, read_json, write_json
from isthmus.transfer.old_names import CONFIG, current_names

IRRELEVANT = ("safety",)
"""Settings that do not decide the result of a simulated run."""

LONGEST_VALUE = 80
"""Characters of a stored setting in a sentence."""


@dataclass(frozen=True)
class _Stored:
    """The content of a cell's file."""

    settings: Json
    expert: str | None
    """Digest of the expert's weights; None in earlier cells of figure 5."""
    found: Json


@dataclass(frozen=True)
class _Flat:
    """What earlier cells of the paper's figures held besides the result: it follows from the cell and its curve."""

    robot: str = ""
    method: str = ""
    gap: str = ""
    arm: str = ""
    seed: int = 0
    samples_to_share: int | None = None


FLAT = {field.name for field in fields(_Flat)}


class CellFiles:
    """Reads and writes the files of cells. A result that names a `problem` is not kept, so that it is tried again."""

    def __init__(self, path: Path, *, keep_runs: bool = False) -> None:
        """Open the folder `path`, and remove files there that were only half written when a process was killed."""
        check_tree(path)
        self.path, self._runs, self._keep_runs = path, (path / "runs").resolve(), keep_runs
        for folder in (path, path / "cells"):
            for leftover in folder.glob(f".*{PARTIAL}"):
                leftover.unlink(missing_ok=True)

    def place(self, cell: Cell[Json]) -> Path:
        """The folder of the cell's transfer run. A run that was begun with another expert has another folder."""
        return self._runs / f"{cell.file}-{expert_digest(cell.task)[:8]}"

    def load(self, cell: Cell[Json]) -> Json | None:
        """The stored result, if any; refuses one that was computed with another expert or other settings."""
        path = self.cell_path(cell)
        if not path.exists():
            return None
        stored = _stored(path, cell)
        if stored.expert not in (None, expert_digest(cell.task)):
            raise Problem(f"{path} was made with another expert: remove it to make it again, or give another --out")
        if difference := _difference(stored.settings, json.loads(json.dumps(cell.settings))):
            raise Problem(f"{path} was made with other settings ({difference}): remove it, or give another --out")
        self._tidy(cell)
        return stored.found

    def save(self, cell: Cell[Json], result: Json) -> None:
        """Keep a result, and remove its transfer run."""
        if "problem" in result:
            return
        kept = {"settings": cell.settings, "expert": expert_digest(cell.task), "found": result}
        write_json(self.cell_path(cell), kept)
        self._tidy(cell)

    def cell_path(self, cell: Cell[Json]) -> Path:
        """The file of a cell, which may have a name that methods had before."""
        path = self.path / "cells" / f"{cell.file}.json"
        earlier = path.with_name(old_file_name(path.name))
        return earlier if earlier.exists() and not path.exists() else path

    def _tidy(self, cell: Cell[Json]) -> None:
        if not self._keep_runs:
            shutil.rmtree(self.place(cell), ignore_errors=True)


@cache
def expert_digest(task: str) -> str:
    """Tells one expert of a task from another; the same from the start of an experiment to its end."""
    path = expert_path(task)
    return hashlib.blake2b(path.read_bytes() if path.exists() else b"", digest_size=16).hexdigest()


def _stored(path: Path, cell: Cell[Json]) -> _Stored:
    """The content of a file; refuses one whose result does not have the fields of the cell's, each of its type."""
    what, advice = "the result of a cell", ": remove it to make it again"
    data = read_json(path)
    if "found" not in data:
        from_json(_Flat, {name: value for name, value in data.items() if name in FLAT}, path, what, advice)
        data = _nested(data)
    stored = from_json(_Stored, data, path, what, advice)
    from_json(cell.fields, stored.found, path, what, advice)
    # Only now: of a file that is no cell, a copy by current names would double the memory that it takes.
    return _Stored(current_names(stored.settings, CONFIG), stored.expert, current_names(stored.found, CONFIG))


def _nested(data: Json) -> Json:
    """An earlier file of the paper's figures, which has all at one level, in the current form."""
    result = {name: value for name, value in data.items() if name not in FLAT}
    if "distances" in data:  # of figure 5
        return {"settings": {}, "expert": None, "found": result}
    renamed = {"config": "settings", "expert": "expert"}
    parts = {new: result.pop(old) for old, new in renamed.items() if old in result}
    return parts | {"found": {"normalised" if name == "adapted" else name: one for name, one in result.items()}}


def _difference(then: Json, now: Json, prefix: str = "") -> str | None:
    """The first setting that has changed; a setting that did not exist then cannot have."""
    for name, value in then.items():
        other: Any = now.get(name)
        if prefix + name in IRRELEVANT:
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            if found := _difference(cast("Json", value), cast("Json", other), f"{prefix}{name}."):
                return found
        elif other != value:
            return f"{prefix}{name} was {value!s:.{LONGEST_VALUE}}, is {other}"
    return None
