"""The gap that is chosen, and what is published of a study."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.experiments.blind import publish, study
from isthmus.experiments.blind.study import BlindStudy, Plan, chosen_gap, swept
from isthmus.experts.shipped import shipped_policy
from isthmus.transfer import PolicyFile


@pytest.fixture
def plan():
    path = shipped_policy("anymal-blind")
    return Plan(PolicyFile(str(path), observation_spec=str(path.with_suffix(".observation.toml"))), seeds=2)


@dataclass
class Scores:
    """Gives one score after the other in place of evaluations."""

    left: list

    def __call__(self, task, world, policy, history, rng):
        return Found(self.left.pop(0))


@dataclass
class Found:
    score: float
    lengths: np.ndarray

    def __init__(self, score):
        self.score, self.lengths = score, np.array([1000, 500])


def test_the_policy_as_it_is_is_tried_at_every_friction_once(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "evaluate", Scores([800.0, 600.0, 700.0, 599.0, 300.0, 200.0, 100.0, 50.0, 0.0]))
    found = swept(plan, tmp_path / "sweep.json")
    assert found["rows"][2]["lost"] == pytest.approx(1 - 599 / 800)
    assert found["rows"][0]["full_length"] == 0.5
    assert swept(plan, tmp_path / "sweep.json") == found
    assert chosen_gap(found) == "mass=1.2,joint-friction=2"


def test_a_policy_that_loses_nothing_by_friction_has_no_gap_to_cross():
    rows = [{"gap": "mass=1.2", "lost": 0.5}, {"gap": "mass=1.2,joint-friction=8", "lost": 0.2}]
    with pytest.raises(Problem, match="no friction up to 8 N m costs this policy 25%"):
        chosen_gap({"rows": rows})


def test_a_sweep_of_another_policy_is_refused(plan, tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps({"settings": {"digest": "other"}}))
    with pytest.raises(Problem, match="made with another policy"):
        swept(plan, tmp_path / "sweep.json")


def crossing(seed, adapted, estimator):
    errors = {"height": 0.01, "velocity": 0.05, "falls": 0.0} | dict.fromkeys(
        ("velocity x", "velocity y", "velocity z"), 0.05
    )
    return {
        **{"method": "auto", "estimator": estimator, "seed": seed, "gap": "mass=1.2", "samples": 2000},
        **{"zero": 0.0, "expert": 800.0, "unadapted": 600.0, "adapted": adapted, "chosen": "model-inverse"},
        **{"normalised_unadapted": 0.75, "normalised_adapted": adapted / 800, "versions": {"commit": "abc"}},
        **({} if estimator == "none" else {"errors": errors}),
    }


@pytest.fixture
def found():
    crossings = [crossing(seed, adapted, "none") for seed, adapted in enumerate((700.0, 780.0, 560.0))]
    crossings.append(crossing(0, 700.0, "learned"))
    judged = {"source simulator": dict(crossings[-1]["errors"], velocity=0.1)}
    estimators = [{"estimator": "kalman", "seed": 0, "errors": judged, "versions": {"commit": "abc"}}]
    sweep = {"gap": "mass=1.2", "commit": "abc", "rows": [{"gap": "mass=1.2", "lost": 0.25, "full_length": 1.0}]}
    return BlindStudy(sweep, estimators, crossings)


def test_the_share_of_the_loss_is_told_by_median_and_worst_seed(found):
    true, estimated = publish.crossing_rows(found)
    assert (true["median"], true["worst"]) == (pytest.approx(0.5), pytest.approx(-0.2))
    assert true["recovered"] == {"0": 0.5, "1": 0.9, "2": pytest.approx(-0.2)}
    assert estimated["estimator"] == "learned"
    assert publish.crossing_table(found)[1][1] == "estimated, learned"


def test_errors_before_and_after_a_target_is_known_have_rows_of_their_own(found):
    rows = publish.estimator_rows(found)
    assert [(row["estimator"], row["where"]) for row in rows] == [
        ("kalman", "source simulator"),
        ("learned", "mass=1.2, after 2,000 samples"),
    ]
    assert publish.estimator_table(found)[1][2:7] == ("0.050", "0.050", "0.050", "0.050", "1.00")


def test_figures_table_plot_and_page_are_written(found, plan, tmp_path):
    publish.write(found, plan, tmp_path, "isthmus experiment blind")
    data = json.loads((tmp_path / "blind.json").read_text())
    assert data["commit"] == "abc"
    assert len(data["cells"]) == 5
    assert "| auto | true | 0.750 | 0.875 | 50% | -20% | 3 | model-inverse |" in (tmp_path / "blind.md").read_text()
    assert "isthmus experiment blind" in (tmp_path / "blind.html").read_text()
    assert (tmp_path / "blind.svg").stat().st_size > 1000


def test_every_cell_of_a_seed_comes_before_those_of_the_next(plan, tmp_path, monkeypatch):
    rows = [{"gap": "mass=1.2,joint-friction=1", "lost": 0.5}]
    monkeypatch.setattr(study, "swept", lambda _plan, _path: {"rows": rows})
    seen = []
    monkeypatch.setattr(study, "run_grid", lambda cells, _store, _watch: seen.extend(cells) or {})
    study.study_blind(plan, tmp_path, lambda _found: None, lambda _progress: None)
    assert [cell.settings["seed"] for cell in seen] == [0] * 13 + [1] * 13
    assert len({cell.file for cell in seen}) == 26
