import json

import numpy as np
import pytest

from isthmus.adapt import PredictedScore
from isthmus.core import Problem
from isthmus.io import save_arrays
from isthmus.report.run import Run, episodes
from isthmus.transfer import RunFolder


def change(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_everything_in_the_folder_is_read(run):
    assert [one.samples for one in run.rounds] == [50, 100]
    assert sum(part.samples for one in run.rounds for episode in one.episodes for part in episode) == 100
    assert set(run.traces) == {"expert", "unadapted", "adapted"}
    assert [len(one) for one in episodes(run.traces["expert"])] == (run.traces["expert"].lengths + 1).tolist()


def test_a_run_without_a_result_is_to_be_finished(folder):
    folder.result_path.unlink()
    with pytest.raises(Problem, match="has no result yet: finish it with --resume"):
        Run.load(folder)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(Problem, match="is not a run"):
        Run.load(RunFolder(tmp_path))


@pytest.mark.parametrize(
    "values",
    [
        {"adapted": "many"},
        {"std": {}},
        {"std": 3},
        {"seconds": {"fit": None}},
        {"expert": -1e9},
        {"versions": []},
    ],
)
def test_figures_that_cannot_be_are_a_problem(folder, values):
    change(folder.result_path, **values)
    with pytest.raises(Problem, match=r"result\.json is not a run's result"):
        Run.load(folder)


FIT = {"error": [1.0, 1.0], "action_std": [1.0, 1.0], "losses": [[None, 1.0]], "best": 0}


@pytest.mark.parametrize(
    "fit",
    [
        {},
        FIT | {"error": [1.0], "action_std": [1.0]},
        FIT | {"error": [1.0, None]},
        FIT | {"losses": [1.0]},
        FIT | {"losses": {"a": 1.0}},
        FIT | {"best": "first"},
        FIT | {"best": []},
        FIT | {"predicted_scores": []},
        FIT | {"predicted_scores": {"residual-action": []}},
    ],
)
def test_a_damaged_round_is_a_problem(folder, fit):
    change(folder.path / "rounds" / "001.json", fit=FIT)
    assert Run.load(folder).rounds[1].best == 0
    change(folder.path / "rounds" / "001.json", fit=fit)
    with pytest.raises(Problem, match=r"round 1 of .* is damaged|001\.json is not the record of a round"):
        Run.load(folder)


@pytest.mark.parametrize(
    ("name", "values", "complaint"),
    [
        ("rounds/001.json", {"fit": None}, "fit is None, expected an object"),
        ("rounds/001.json", {"seconds": {"fit": "long"}}, "seconds.fit is 'long', expected a number"),
        ("rounds/001.json", {"score": True}, "score is True, expected a number"),
        ("result.json", {"curve": [[1, 2]]}, r"curve\[0\] is \[1, 2\], expected an object"),
        ("result.json", {"samples": 1.5}, "samples is 1.5, expected a whole number"),
        ("result.json", {"more": 1}, "it has a field 'more' that does not belong there"),
        ("config.json", {"settings": {"fit": {"hidden": "wide"}}}, "settings.fit.hidden is 'wide', expected a list"),
        ("config.json", {"policy": {"path": "/dev/zero"}}, "policy has no digest"),
        ("config.json", {"samples": -1}, "samples must be at least 1"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(folder, name, values, complaint):
    change(folder.path / name, **values)
    with pytest.raises(Problem, match=rf"{name} is not .*{complaint}"):
        Run.load(folder)


@pytest.mark.parametrize("name", ["config.json", "result.json", "rounds/001.json"])
def test_a_number_of_400_digits_is_a_problem(folder, name):
    text = (folder.path / name).read_text()
    (folder.path / name).write_text(text.replace('"samples": 100', f'"samples": {"9" * 400}'))
    with pytest.raises(Problem, match=rf"{name} is not valid JSON \(a whole number of 400 digits is too large\)"):
        Run.load(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("observations", np.zeros((8, 51, 3))),
        ("qpos", np.full((8, 51, 4), np.nan)),
        ("commands", np.zeros(3)),
        ("lengths", np.array(["a"] * 8)),
        ("lengths", np.zeros(8, np.int64)),
    ],
)
def test_a_trace_of_something_else_is_a_problem(folder, run, name, value):
    arrays = {one: getattr(run.traces["adapted"], one) for one in run.traces["adapted"].__dataclass_fields__}
    save_arrays(folder.trace_path("adapted"), arrays | {name: value}, {"kind": "trace"})
    with pytest.raises(Problem, match=r"adapted\.npz does not fit the run"):
        Run.load(folder)


FORESEEN = {"score": 1.0, "error": 0.1, "episodes": 8}


@pytest.mark.parametrize("fault", [FORESEEN | {"score": "high"}, FORESEEN | {"error": None}, {"score": 1.0}, 0.5])
def test_what_was_foreseen_is_checked(folder, fault):
    path = folder.path / "rounds" / "001.json"
    record = json.loads(path.read_text())
    for one in (FORESEEN, fault):
        record["fit"] |= {"chosen": "residual-action", "predicted": 1.0, "predicted_scores": {"residual-action": one}}
        path.write_text(json.dumps(record))
        if one is FORESEEN:
            assert Run.load(folder).rounds[1].predicted_scores == {"residual-action": PredictedScore(**FORESEEN)}
    with pytest.raises(Problem, match=r"round 1 .* is damaged"):
        Run.load(folder)
