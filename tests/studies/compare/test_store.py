import json

import pytest

from isthmus.core import Problem
from isthmus.studies.compare.job import Ceiling, Crossing
from isthmus.studies.compare.store import Store

CROSSED = {
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
def cell(tiny, tmp_path):
    """A job that is done, its store, and the file that says what came of it."""
    case = tiny()
    job, store = Crossing(case, case.entries[0], 0), Store(tmp_path)
    store.save(store.place(job), CROSSED)
    return job, store, tmp_path / "cells" / f"{job.file}.json"


def test_what_was_kept_is_read_again(cell):
    job, store, _ = cell
    assert store.load(job) == CROSSED


@pytest.mark.parametrize("change", [{"settings": []}, {"expert": 7}, {"found": [1]}, {"found": None}, {"more": 1}])
def test_a_file_that_is_no_cell_is_refused(cell, change):
    job, store, path = cell
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(Problem, match="not a comparison's cell"):
        store.load(job)


@pytest.mark.parametrize(
    "change", [{"normalised": "good"}, {"curve": [[0]]}, {"curve": 3}, {"versions": []}, {"fit_seconds": None}]
)
def test_figures_of_another_type_are_refused(cell, change):
    job, store, path = cell
    path.write_text(json.dumps(json.loads(path.read_text()) | {"found": CROSSED | change}))
    with pytest.raises(Problem, match=rf"not a comparison's cell \({next(iter(change))}"):
        store.load(job)


def test_the_cell_of_a_crossing_is_none_of_the_oracle(cell):
    job, store, path = cell
    oracle = Ceiling(job.case, "even")
    path.rename(path.with_name(f"{oracle.file}.json"))
    with pytest.raises(Problem, match="not a comparison's cell"):
        store.load(oracle)
