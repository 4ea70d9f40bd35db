"""The table of estimators: every figure names the commit that it was made by."""

import json
from types import SimpleNamespace

from isthmus.experiments.estimation import Case, EstimationStudy


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
