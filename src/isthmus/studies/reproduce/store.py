"""A figure on disk: every finished cell is a file, and a file is whole or not there.

cells/NAME.json           what came of a cell
runs/NAME-EXPERT/         the crossing itself; removed once its cell is there
seconds.json              how long each cell took
figure-N.json .md .svg .html
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from isthmus.core import Problem
from isthmus.data import from_json, read_json, write_json, write_whole
from isthmus.data.files import PARTIAL
from isthmus.studies.reproduce.case import Case, Cell
from isthmus.studies.reproduce.outcome import Outcome, expert_digest
from isthmus.transfer import Result


class Store:
    """Reads and writes the cells of a figure."""

    def __init__(self, path: Path, *, keep_runs: bool = False) -> None:
        """Name the folder; nothing is touched yet."""
        self.path, self._keep_runs = path, keep_runs

    def run_path(self, cell: Cell) -> Path:
        """Where the crossing of a cell is, as any process finds it; one that another expert began is another."""
        return (self.path / "runs" / f"{cell.name}-{expert_digest(cell.case.robot)[:8]}").resolve()

    def outcomes(self, cases: Iterable[Case]) -> dict[Cell, Outcome]:
        """Every finished cell of these cases; one that was made otherwise than it would be now is a Problem."""
        known = {(case.robot, case.gap, case.arm): case for case in cases}
        found: dict[Cell, Outcome] = {}
        for path in sorted((self.path / "cells").glob("*.json")):
            outcome = Outcome.load(path)
            case = known.get((outcome.robot, outcome.gap, outcome.arm))
            if case is None:
                continue
            cell = case.cell(outcome.seed)
            if reason := outcome.mismatch(cell):
                raise Problem(f"{path} was made {reason}: remove it to make it again, or give another --out")
            found[cell] = outcome
        return found

    def save(self, cell: Cell, result: Result) -> Outcome:
        """Keep what came of a cell."""
        outcome = Outcome.of(cell, result)
        write_json(self._seconds_path, self.seconds() | {cell.name: sum(result.seconds.values())})
        write_whole(self.path / "cells" / f"{cell.name}.json", outcome.to_text().encode())
        self._remove_run(cell)
        return outcome

    def tidy(self, finished: Iterable[Cell]) -> None:
        """Remove what a kill left behind: runs whose cell is finished, and files that were half written."""
        for cell in finished:
            self._remove_run(cell)
        for folder in (self.path, self.path / "cells"):
            for leftover in folder.glob(f".*{PARTIAL}"):
                leftover.unlink(missing_ok=True)

    def _remove_run(self, cell: Cell) -> None:
        if not self._keep_runs:
            shutil.rmtree(self.run_path(cell), ignore_errors=True)

    def seconds(self) -> dict[str, float]:
        """How long cells took, by name."""
        path = self._seconds_path
        if not path.exists():
            return {}
        return from_json(dict[str, float], read_json(path), path, "how long cells took", "; remove it")

    @property
    def _seconds_path(self) -> Path:
        return self.path / "seconds.json"
