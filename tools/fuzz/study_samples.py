"""What studies and trainings leave on disk to go on from, and what reads it."""

from collections.abc import Callable
from pathlib import Path

import mutate
import numpy as np
from reader import Reader

from isthmus.data import check_tree, save_arrays, write_json, write_whole
from isthmus.experts import make
from isthmus.studies.compare.case import Case
from isthmus.studies.compare.comparison import Comparison
from isthmus.studies.compare.entry import Entry
from isthmus.studies.compare.job import Ceiling, Crossing, Job
from isthmus.studies.compare.store import Store as Comparisons
from isthmus.studies.figure_5 import run as figure_5
from isthmus.studies.figure_5.cell import Outcome as ArmOutcome
from isthmus.studies.figure_5.summary import Summary as ArmSummary
from isthmus.studies.reproduce import FIGURES
from isthmus.studies.reproduce.store import Store as Cells
from isthmus.studies.reproduce.summary import Summary
from isthmus.transfer import Result
from isthmus.transfer.result import CurvePoint, versions

TASK, GAP = "reacher", "tilt=45"
CASE = Case(TASK, GAP, 100, (Entry("unadapted"),), metrics=("even",), ceiling_episodes=2)


def study_readers(folder: Path, wanted: list[str]) -> list[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    crossing, oracle = Crossing(CASE, CASE.entries[0], 0), Ceiling(CASE, "even")
    figure = FIGURES["figure-3"](quick=True)
    case = next(one for one in figure.cases if one.robot == TASK)
    cells = Cells(folder / "figure-3")

    def show_figure(store: Path) -> None:
        summary = Summary.of(figure, Cells(store).outcomes(figure.cases), {})
        summary.to_json()
        summary.to_markdown()

    cells.save(case.cell(0), _result(case.config.gap))
    found = [
        Reader("figure 3 cell .json", sorted((cells.path / "cells").glob("*")), mutate.jsoned, _in_store(show_figure)),
        Reader(
            "seconds.json",
            [cells.path / "seconds.json"],
            mutate.jsoned,
            _in_study(_total),
        ),
        _comparison("comparison cell .json", crossing, folder),
        _comparison("oracle cell .json", oracle, folder),
        Reader("figure 5 cell .json", [_arm_cell(folder)], mutate.jsoned, _show_arm),
        Reader("figure 5 address.txt", [_address(folder)], mutate.plain, _in_study(_kept_address)),
        Reader("expert training .npz", [_training(folder)], mutate.zipped, _so_far),
    ]
    return [reader for reader in found if reader.name in wanted]


def _total(here: Path) -> float:
    return sum(Cells(here).seconds().values())


def _kept_address(here: Path) -> object:
    return figure_5._address(here)  # pyright: ignore[reportPrivateUsage]


def _so_far(path: Path) -> object:
    return make._so_far(path, TASK, 0)  # pyright: ignore[reportPrivateUsage]


def _in_study(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """A reader that is given the folder of a study, and finds the file by its name."""

    def read_study(path: Path) -> object:
        check_tree(path.parent)  # as every study does
        return read(path.parent)

    return read_study


def _in_store(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """A reader that is given a folder, with the file among its `cells`."""

    def read_store(path: Path) -> object:
        check_tree(path.parent)  # as every study does
        store = path.parent.with_name(f"{path.parent.name}, store")
        store.mkdir(exist_ok=True)
        if not (store / "cells").exists():
            (store / "cells").symlink_to(path.parent)
        return read(store)

    return read_store


def _result(gap: str) -> Result:
    curve = (CurvePoint(0, 0.7, -6.0), CurvePoint(50, 0.9, -5.0), CurvePoint(100, 0.95, -4.8))
    spread = {"zero": 1.0, "expert": 1.0, "unadapted": 1.0, "adapted": 1.0}
    seconds = {"fit": 1.0, "collect": 0.1}
    scores = (-40.0, -4.0, -6.0, -4.8)
    return Result(TASK, gap, "inverse", 1, 0, 100, *scores, spread, 0.7, 0.95, 50, curve, seconds, versions())


def _comparison(name: str, job: Job, folder: Path) -> Reader:
    store = Comparisons(folder / "comparisons")
    placed = store.place(job)
    store.save(placed, job.run(placed.folder))

    def show(path: Path) -> None:
        kept = Comparisons(path).load(job)
        comparison = Comparison.of(CASE, {} if kept is None else {job.file: kept}, seeds=1)
        comparison.to_json()
        comparison.table()

    return Reader(name, [store.path / "cells" / f"{job.file}.json"], mutate.jsoned, _in_store(show))


def _arm_cell(folder: Path) -> Path:
    clipped = {"position": 0, "step": 3, "lead": 1}
    outcome = ArmOutcome("heavy", "inverse", (0.02, 0.03), 500, 3.5, clipped, {"kp": [1.0, 2.0]}, "0123abc")
    path = folder / "heavy-inverse.json"
    write_json(path, outcome.to_json())
    return path


def _show_arm(path: Path) -> None:
    summary = ArmSummary.of([ArmOutcome.load(path)])
    summary.to_json()
    _ = summary.rows


def _address(folder: Path) -> Path:
    path = folder / "address.txt"
    write_whole(path, b"ros://127.0.0.1:40123\n")
    return path


def _training(folder: Path) -> Path:
    path = folder / "reacher.training.npz"
    stages = [{"from": 0, "command": "isthmus expert train reacher", "settings": {"steps": 1000}}]
    progress = {"task": TASK, "seed": 0, "steps": 1000, "seconds": 12.5, "stages": stages, "start": None}
    save_arrays(path, {"policy/weight": np.ones((4, 3), np.float32)}, {"kind": make.TRAINING} | progress)
    return path
