from functools import partial

import pytest

from isthmus.core import Problem
from isthmus.experiments import grid
from isthmus.experiments.grid import Cell, check_counts, run_grid
from isthmus.experiments.store import CellFiles


def number(value, folder):
    folder.mkdir(parents=True)
    (folder / "work").write_text("under way")
    return {"normalised": value}


CELLS = [Cell(f"cell {value}", f"cell-{value}", partial(number, value)) for value in range(3)]


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    """Cells run in this process."""

    def run_all(cells, run, deliver, *, workers, ray):
        for cell in cells:
            deliver(cell, run(cell))

    monkeypatch.setattr(grid, "run_all", run_all)


def test_cells_are_computed_once_and_shown_one_by_one(tmp_path):
    seen = []
    store = CellFiles(tmp_path)
    first = run_grid(CELLS, store, seen.append, wanted={"cell-1"})
    assert first == {"cell-1": {"normalised": 1}}
    found = run_grid(CELLS, store, seen.append, workers=2)
    assert found == {f"cell-{value}": {"normalised": value} for value in range(3)}
    assert [(len(one.found), one.total) for one in seen] == [(0, 1), (1, 1), (1, 3), (2, 3), (3, 3)]
    assert [one.latest is None for one in seen] == [True, False, True, False, False]
    assert not any((tmp_path / "runs").iterdir())
    again = []
    assert run_grid(CELLS, store, again.append) == found
    assert [(len(one.found), one.total) for one in again] == [(3, 3)]


def test_counts_below_one_are_refused():
    check_counts(seeds=1, workers=2)
    with pytest.raises(Problem, match="workers must be at least 1, got 0"):
        check_counts(seeds=1, workers=0)
