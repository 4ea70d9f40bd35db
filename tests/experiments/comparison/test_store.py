import json

import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison.cells import method_cell, oracle_cell
from isthmus.experiments.store import CellFiles

RESULT = {
    "normalised": 0.9,
    "unadapted": 0.7,
    "episode_error": 0.01,
    "samples": 60,
    "curve": [[0, 0.7], [60, 0.9]],
    "fit_seconds": 1.0,
    "step_microseconds": None,
    "versions": {"isthmus": "1"},
}


@pytest.fixture
def stored(tiny, tmp_path):
    """The cell of a method, its store, and the file with its result."""
    case = tiny()
    cell, store = method_cell(case, case.entries[0], 0), CellFiles(tmp_path)
    store.save(cell, RESULT)
    return cell, store, store.cell_path(cell)


def test_a_stored_result_is_read_again(stored):
    cell, store, _ = stored
    assert store.load(cell) == RESULT


@pytest.mark.parametrize("change", [{"settings": []}, {"expert": 7}, {"found": [1]}, {"found": None}, {"more": 1}])
def test_a_file_that_is_no_cell_is_refused(stored, change):
    cell, store, path = stored
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(Problem, match="not the result of a cell"):
        store.load(cell)


@pytest.mark.parametrize(
    "change", [{"normalised": "good"}, {"curve": [[0]]}, {"curve": 3}, {"versions": []}, {"fit_seconds": None}]
)
def test_figures_of_another_type_are_refused(stored, change):
    cell, store, path = stored
    path.write_text(json.dumps(json.loads(path.read_text()) | {"found": RESULT | change}))
    with pytest.raises(Problem, match=rf"not the result of a cell \({next(iter(change))}"):
        store.load(cell)


def test_the_result_of_a_method_is_not_taken_for_one_of_the_oracle(tiny, stored):
    _, store, path = stored
    oracle = oracle_cell(tiny(), "even")
    path.rename(store.cell_path(oracle))
    with pytest.raises(Problem, match="not the result of a cell"):
        store.load(oracle)


def test_a_long_setting_is_cut_short_in_the_sentence(stored):
    cell, store, path = stored
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"settings": {"gap": "x" * 100_000}}))
    with pytest.raises(Problem, match=r"gap was x{80}, is tilt=90"):
        store.load(cell)
