import json
from pathlib import Path

import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison.cells import method_cell
from isthmus.experiments.comparison.fixed_gaps import fixed_gap_cases
from isthmus.experiments.grid import Cell
from isthmus.experiments.paper import FIGURES
from isthmus.experiments.store import CellFiles, expert_digest

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def cell(**settings):
    return Cell("a cell", "cell", lambda _folder: {}, "reacher", {"samples": 60, "fit": {"epochs": 2}} | settings)


def test_a_result_comes_back_and_its_run_is_removed_unless_runs_are_kept(tmp_path):
    for keep in (True, False):
        store = CellFiles(tmp_path, keep_runs=keep)
        assert keep or store.load(cell()) == {"normalised": 0.5}
        store.place(cell()).mkdir(parents=True, exist_ok=True)
        store.save(cell(), {"normalised": 0.5})
        assert store.place(cell()).exists() is keep
    assert store.load(Cell("another", "another", lambda _folder: {})) is None


def test_a_problem_is_not_kept(tmp_path):
    store = CellFiles(tmp_path)
    store.save(cell(), {"problem": "no legs"})
    assert store.load(cell()) is None


def test_a_result_of_other_settings_or_another_expert_is_refused(tmp_path):
    store = CellFiles(tmp_path)
    store.save(cell(), {"normalised": 0.5})
    with pytest.raises(Problem, match=r"cell.json was made with other settings \(fit.epochs was 2, is 3\)"):
        store.load(cell(fit={"epochs": 3}))
    assert store.load(cell(later=True))  # a setting that did not exist then cannot differ
    path = tmp_path / "cells" / "cell.json"
    path.write_text(path.read_text().replace(expert_digest("reacher"), "another"))
    with pytest.raises(Problem, match=r"cell\.json was made with another expert"):
        store.load(cell())


def test_limits_of_a_real_robot_do_not_decide_a_simulated_result(tmp_path):
    store = CellFiles(tmp_path)
    store.save(cell(safety={"step": 1.5}), {"normalised": 0.5})
    assert store.load(cell(safety={"step": 0.8})) == {"normalised": 0.5}


@pytest.mark.parametrize("content", ["{}", '{"robot": "first"}', '{"found": {}}'])
def test_a_file_that_is_no_cell_is_refused(tmp_path, content):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "cell.json").write_text(content)
    with pytest.raises(Problem, match=r"cell\.json is not the result of a cell"):
        CellFiles(tmp_path).load(cell())


def test_earlier_cells_of_figure_5_are_read(tmp_path):
    (tmp_path / "cells").mkdir()
    earlier = {"robot": "first", "method": "pd", "distances": [0.1], "samples": 3}
    (tmp_path / "cells" / "cell.json").write_text(json.dumps(earlier))
    assert CellFiles(tmp_path).load(cell()) == {"distances": [0.1], "samples": 3}


def test_files_that_were_half_written_are_removed(tmp_path):
    (tmp_path / "cells").mkdir()
    for folder in (tmp_path, tmp_path / "cells"):
        (folder / ".cell.json.x.partial").write_text("{")
    CellFiles(tmp_path)
    assert not list(tmp_path.rglob("*.partial"))


def test_committed_cells_of_every_form_and_name_are_read():
    case = FIGURES["figure-3"]().cases[1]
    result = CellFiles(RESULTS / "figure-3").load(case.cell(0))
    assert result
    assert result.keys() == {"unadapted", "normalised", "samples", "curve", "versions"}
    store = CellFiles(RESULTS / "compare")
    [suite] = [case for case in fixed_gap_cases() if case.name == "hopper, gravity=1.2"]
    found = {entry.method: store.load(method_cell(suite, entry, 0)) for entry in suite.entries}
    assert {"unadapted", "residual-action", "fine-tune", "auto"} <= {method for method, one in found.items() if one}
