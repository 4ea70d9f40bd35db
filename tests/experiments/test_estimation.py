"""The table of estimators: every figure names the commit that it was made by."""

import json
from types import SimpleNamespace

import pytest

from isthmus.core import Problem
from isthmus.experiments.estimation import Case, Choice, EstimationStudy


def result(seed, score, commit):
    scores = {"normalised_unadapted": 0.5, "normalised_adapted": score}
    return SimpleNamespace(seed=seed, **scores, chosen="unadapted", versions={"commit": commit})


def test_a_row_names_the_commits_of_its_own_seeds(tmp_path):
    first, second = Case("hopper", "none", ("positions",)), Case("hopper", "sensor-noise=0.01")
    found = [(first, "kalman", result(0, 0.9, "aaaaaaa")), (first, "kalman", result(1, 0.7, "bbbbbbb"))]
    study = EstimationStudy(2, "isthmus experiment estimation", [*found, (second, "kalman", result(0, 1.0, "bbbbbbb"))])
    study.write(tmp_path)
    rows = json.loads((tmp_path / "estimation.json").read_text())["rows"]
    assert [row["commit"] for row in rows] == ["aaaaaaa, bbbbbbb", "bbbbbbb"]
    assert [row["worst"] for row in rows] == [0.7, 1.0]
    assert "| aaaaaaa, bbbbbbb |" in (tmp_path / "estimation.md").read_text()


def test_rows_and_seeds_of_other_commands_stay_as_they_were_published(tmp_path):
    first, second = Case("hopper", "none", ("positions",)), Case("hopper", "sensor-noise=0.01")
    before = [(first, "kalman", result(seed, 0.9 + 0.02 * seed, "aaaaaaa")) for seed in (0, 1)]
    EstimationStudy(2, "all", [*before, (second, "learned", result(0, 0.8, "aaaaaaa"))]).write(tmp_path)
    EstimationStudy(3, "some", [(first, "kalman", result(seed, 0.5, "bbbbbbb")) for seed in (1, 2)]).write(tmp_path)
    kalman, learned = json.loads((tmp_path / "estimation.json").read_text())["rows"]
    assert [one["adapted"] for one in kalman["seeds"].values()] == [0.9, 0.5, 0.5]
    assert (kalman["median"], kalman["worst"], kalman["commit"]) == (0.5, 0.5, "aaaaaaa, bbbbbbb")
    assert (learned["median"], learned["commit"]) == (0.8, "aaaaaaa")


def test_rows_in_the_form_of_earlier_versions_are_made_anew(tmp_path):
    case = Case("hopper", "none", ("positions",))
    study = EstimationStudy(1, "all", [(case, "kalman", result(0, 0.9, "aaaaaaa"))])
    study.write(tmp_path)
    text = json.loads((tmp_path / "estimation.json").read_text())
    text["rows"][0]["seeds"] = {"0": 0.3, "1": 0.4}
    (tmp_path / "estimation.json").write_text(json.dumps(text))
    study.write(tmp_path)
    [row] = json.loads((tmp_path / "estimation.json").read_text())["rows"]
    assert (list(row["seeds"]), row["median"]) == (["0"], 0.9)


def test_seeds_that_are_published_need_not_be_run_again():
    choice = Choice(("positions",), ("kalman",), seeds=3, first=1)
    assert {cell.name[-1] for _, _, cell in choice.cells()} == {"1", "2"}
    with pytest.raises(Problem, match="first must be"):
        Choice(("positions",), ("kalman",), seeds=3, first=3)


def test_cases_are_chosen_by_their_gaps():
    choice = Choice(("positions", "noise"), ("kalman",), seeds=1, gaps=("sensor-bias=0.005",))
    assert [(case.task, case.gap) for case, _, _ in choice.cells()] == [
        ("hopper", "sensor-bias=0.005"),
        ("half-cheetah", "sensor-bias=0.005"),
    ]
    assert "--gaps sensor-bias=0.005" in choice.command
    with pytest.raises(Problem, match=r"gap of these cases 'gravity=0.9'"):
        Choice(("positions",), ("kalman",), seeds=1, gaps=("gravity=0.9",))
