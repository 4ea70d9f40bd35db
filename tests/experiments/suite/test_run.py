import dataclasses

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.experiments import grid
from isthmus.experiments.comparison.case import Entry
from isthmus.experiments.pool import attempt, settle
from isthmus.experiments.suite import calibrate as calibrating
from isthmus.experiments.suite.calibrate import calibrate
from isthmus.experiments.suite.calibration import SHIPPED, CalibratedFamily, Calibration, Rung, find_calibration
from isthmus.experiments.suite.families import FAMILIES, family
from isthmus.experiments.suite.run import crossings, run_suite
from isthmus.experiments.suite.settings import BUDGETS, RUNGS, TASKS


@pytest.fixture
def in_process(monkeypatch):
    done = []

    def run_all(works, do, deliver, *, workers, ray):
        for work in works:
            done.append(work.name)
            deliver(work, settle(work, attempt(do, work)))

    monkeypatch.setattr(grid, "run_all", run_all)
    return done


@pytest.fixture
def two_families(monkeypatch):
    monkeypatch.setattr(calibrating, "FAMILIES", (family("backlash"), family("contact friction")))


def calibration(*rungs):
    return Calibration("reacher", "digest", 4, 0, "", "", (CalibratedFamily("backlash", rungs, "", ()),))


@pytest.fixture
def small():
    """Crossings of one gap that take seconds."""

    def make(methods=("pd",)):
        [one] = crossings([calibration(Rung(0.5, "backlash=0.5", 0.5))], rungs=(0.5,), budgets=(60,))
        entries = tuple(Entry(name) for name in methods)
        settings = MethodSettings(fit=FitSettings(epochs=2))
        return [dataclasses.replace(one, case=dataclasses.replace(one.case, entries=entries, settings=settings))]

    return make


def test_a_calibration_is_resumed_stored_and_found(tmp_path, in_process, two_families):
    [made] = calibrate(["reacher"], tmp_path, policy=None, episodes=2)
    assert in_process == ["reacher, backlash", "reacher, contact friction"]
    assert [one.family for one in made.families] == ["backlash", "contact friction"]
    assert made.families[0].rungs
    assert made.families[1].note
    assert calibrate(["reacher"], tmp_path, policy=None, episodes=2) == [made]
    assert len(in_process) == 2
    assert find_calibration("reacher", None, tmp_path / "calibration") == made


def test_a_calibration_of_another_policy_is_refused(tmp_path):
    calibration().save(tmp_path)
    with pytest.raises(Problem, match="for another policy"):
        find_calibration("reacher", None, tmp_path)


def test_the_calibration_that_ships_is_of_the_experts_and_has_every_family():
    tasks = [path.stem for path in SHIPPED.glob("*.json")]
    assert set(tasks) <= set(TASKS)
    for task in tasks:
        shipped = find_calibration(task, None, SHIPPED / "none")
        assert shipped is not None, task
        assert [one.family for one in shipped.families] == [one.name for one in FAMILIES]


def test_a_gap_on_several_rungs_is_crossed_once_and_the_main_rung_first():
    one = calibration(Rung(0.5, "delay=1", 0.2), Rung(0.3, "delay=1", 0.2), Rung(0.7, "backlash=0.3", 0.7))
    assert [(each.case.gap, each.share) for each in crossings([one], rungs=RUNGS, budgets=BUDGETS)] == [
        ("delay=1", 0.5),
        ("backlash=0.3", 0.7),
    ]


def test_the_suite_runs_what_is_missing_and_shows_what_there_is(tmp_path, in_process, small):
    shown = []
    done = run_suite(small(("pd", "output-error")), tmp_path, seeds=1, methods=["pd"], show=shown.append)
    assert in_process == ["reacher, backlash=0.5, pd, seed 0"]
    assert shown[0].missing == 1
    assert done.missing == 0
    assert [(one.method, one.gap, one.family, one.rung) for one in done.every] == [
        ("pd", "backlash=0.5", "backlash", 0.5)
    ]
    assert done.every[0].scores.keys() == {60}
    run_suite(small(("pd", "output-error")), tmp_path, seeds=1, methods=["pd"])
    assert len(in_process) == 1


def test_an_unknown_method_is_refused(tmp_path, small):
    with pytest.raises(Problem, match=r"unknown method of the suite 'ptd'.*did you mean 'pd'"):
        run_suite(small(), tmp_path, seeds=1, methods=["ptd"])


def test_rungs_on_which_nothing_is_calibrated_are_refused(tmp_path):
    with pytest.raises(Problem, match="no gap is calibrated"):
        run_suite([], tmp_path, seeds=1)


def test_policies_that_do_not_ship_are_not_missing_and_training_is_for_auto_alone():
    one = calibration(Rung(0.5, "backlash=0.5", 0.5))
    [plain] = crossings([one], rungs=(0.5,), budgets=(60,))
    methods = {entry.method for entry in plain.case.entries}
    assert {"auto", "inverse", "residual-action"} <= methods
    assert "robust" not in methods
    [trained] = crossings([one], rungs=(0.5,), budgets=(60,), settings=MethodSettings(may_retrain=True, practice=10))
    assert [entry.method for entry in trained.case.entries] == ["auto"]
    assert trained.case.config(trained.case.entries[0], 0).settings.practice == 10
