"""What experiments and trainings leave on disk to continue from, and what reads it."""

from collections.abc import Callable
from pathlib import Path

import mutate
import numpy as np
from reader import Reader

from isthmus.experiments.comparison.case import Case, Entry
from isthmus.experiments.comparison.cells import method_cell, oracle_cell
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.grid import Cell, Json
from isthmus.experiments.paper import FIGURES
from isthmus.experiments.paper.cells import tallies
from isthmus.experiments.paper.figure import Summary
from isthmus.experiments.paper.figure_5 import run as figure_5
from isthmus.experiments.paper.figure_5.cell import swing_cell
from isthmus.experiments.paper.figure_5.settings import QUICK
from isthmus.experiments.paper.figure_5.summary import Summary as SwingSummary
from isthmus.experiments.store import CellFiles, expert_digest
from isthmus.experts import make
from isthmus.hardware.ros1 import Address
from isthmus.io import check_tree, save_arrays, write_json, write_whole

TASK = "reacher"
CASE = Case(TASK, "tilt=45", 100, (Entry("unadapted"),), metrics=("even",), oracle_episodes=2)
FIGURE = FIGURES["figure-3"](quick=True)
PAPER_CASE = next(one for one in FIGURE.cases if one.robot == TASK)
PAPER_CELL = PAPER_CASE.cell(0)
CURVE = [[0, 0.7], [50, 0.9], [100, 0.95]]
PAPER_RESULT: Json = {
    "unadapted": 0.7,
    "normalised": 0.95,
    "samples": 100,
    "curve": CURVE,
    "versions": {"isthmus": "1", "commit": "0123abc"},
}
SWING_CELL = swing_cell("first", "pd", QUICK, Address(), 1.0)
SWING_RESULT: Json = {
    "distances": [0.02, 0.03],
    "samples": 500,
    "robot_minutes": 3.5,
    "clipped": {"commands": 4, "position": 0, "step": 3, "lead": 1},
    "notes": {"kp": [1.0, 2.0]},
    "commit": "0123abc",
}


def experiment_readers(folder: Path, wanted: list[str]) -> list[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    method, oracle = method_cell(CASE, CASE.entries[0], 0), oracle_cell(CASE, "even")
    found = [
        _cell_reader("figure 3 cell .json", PAPER_CELL, _saved(folder, PAPER_CELL, PAPER_RESULT), _show_figure),
        _cell_reader("earlier figure 3 cell .json", PAPER_CELL, _earlier(folder), _show_figure),
        _cell_reader("figure 5 cell .json", SWING_CELL, _saved(folder, SWING_CELL, SWING_RESULT), _show_swing),
        Reader("figure 5 address.txt", [_address(folder)], mutate.plain, _address_beside),
        Reader("expert training .npz", [_training(folder)], mutate.zipped, _so_far),
    ]
    for name, cell in (("comparison cell .json", method), ("oracle cell .json", oracle)):
        if name in wanted:
            path = _saved(folder, cell, cell.run(folder / f"run, {name}"))
            found.append(_cell_reader(name, cell, path, _comparison_of(cell)))
    return [reader for reader in found if reader.name in wanted]


class _Files(CellFiles):
    """A store that has the file of a cell in its own folder."""

    def cell_path(self, cell: Cell[Json]) -> Path:
        """The file of a cell."""
        return self.path / f"{cell.file}.json"


def _saved(folder: Path, cell: Cell[Json], result: Json) -> Path:
    store = CellFiles(folder / "store")
    store.save(cell, result)
    return store.cell_path(cell)


def _earlier(folder: Path) -> Path:
    """A cell of the paper's figures as earlier versions wrote it, with everything at one level."""
    path = folder / "earlier" / f"{PAPER_CELL.file}.json"
    result = {name: value for name, value in PAPER_RESULT.items() if name != "normalised"}
    named = {"robot": TASK, "gap": PAPER_CASE.gap, "arm": PAPER_CASE.arm, "seed": 0, "samples_to_share": 50}
    made = {"config": PAPER_CELL.settings, "expert": expert_digest(TASK), "adapted": PAPER_RESULT["normalised"]}
    write_json(path, result | named | made)
    return path


def _cell_reader(name: str, cell: Cell[Json], sample: Path, show: Callable[[Json], object]) -> Reader:
    """Loads the result of a cell as an experiment does that continues, and shows it."""

    def read(path: Path) -> None:
        result = _Files(path.parent, keep_runs=True).load(cell)
        if result is not None:
            show(result)

    return Reader(name, [sample], mutate.jsoned, read)


def _show_figure(result: Json) -> None:
    summary = Summary(FIGURE, tallies(FIGURE.cases, {PAPER_CELL.file: result}, {TASK: 1}))
    summary.to_json()
    _ = summary.rows


def _comparison_of(cell: Cell[Json]) -> Callable[[Json], None]:
    def show(result: Json) -> None:
        comparison = Comparison.of(CASE, {cell.file: result}, seeds=1)
        comparison.to_json()
        comparison.table()

    return show


def _show_swing(result: Json) -> None:
    summary = SwingSummary.of({("first", "pd"): result})
    summary.to_json()
    _ = summary.rows


def _address(folder: Path) -> Path:
    path = folder / "figure-5" / "address.txt"
    write_whole(path, b"ros://127.0.0.1:40123\n")
    return path


def _address_beside(path: Path) -> Address:
    check_tree(path.parent)  # as the experiment does
    return figure_5._address(path.parent)  # pyright: ignore[reportPrivateUsage]


def _so_far(path: Path) -> object:
    return make._so_far(path, TASK, 0)  # pyright: ignore[reportPrivateUsage]


def _training(folder: Path) -> Path:
    path = folder / "reacher.training.npz"
    stages = [{"from": 0, "command": "isthmus policy train reacher", "settings": {"steps": 1000}}]
    progress = {"task": TASK, "seed": 0, "steps": 1000, "seconds": 12.5, "stages": stages, "start": None}
    save_arrays(path, {"policy/weight": np.ones((4, 3), np.float32)}, {"kind": make.TRAINING} | progress)
    return path
