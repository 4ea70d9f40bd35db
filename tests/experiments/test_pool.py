import os
import signal
import threading

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.experiments import pool
from isthmus.experiments.pool import ONE_THREAD, run_units
from isthmus.experiments.unit import LOSSES, Unit
from isthmus.transfer import Config

SETTINGS = MethodSettings(fit=FitSettings(epochs=2))


def units(folder, count=3, **changes):
    tiny = {"samples": 90, "round_samples": 30, "evaluation_episodes": 50, "settings": SETTINGS} | changes
    return [
        Unit(f"unit {seed}", Config("reacher", "tilt=90", "inverse", seed=seed, **tiny), folder / f"{seed}")
        for seed in range(count)
    ]


def run(work, **how):
    """What every unit came to, but for how long it took."""
    found = {}
    run_units(work, lambda unit, result: found.setdefault(unit.name, result.to_json() | {"seconds": 0}), **how)
    return found


def test_a_killed_worker_neither_loses_nor_changes_a_result(tmp_path, holders, eventually):
    killed = []

    def kill():
        eventually((tmp_path / "killed" / "0" / "baseline.json").exists)
        killed.append(holders(tmp_path / "killed" / "0")[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    disturbed = run(units(tmp_path / "killed"), workers=2)
    killer.join()
    assert killed
    assert killed[0] != os.getpid()
    assert disturbed == run(units(tmp_path / "whole"), workers=1)


def test_a_problem_comes_out_as_it_is_with_the_name_of_its_unit(tmp_path):
    (tmp_path / "1").write_text("precious")
    with pytest.raises(Problem, match=r"^unit 1: .*/1 is a file: give the name of a folder$"):
        run(units(tmp_path, 2), workers=1)


def test_a_unit_whose_workers_keep_dying_is_given_up(tmp_path, monkeypatch):
    tried = []

    def dies(waiting, _run, _deliver, _workers):
        tried.append(waiting.popleft())
        return [tried[-1]]

    monkeypatch.setattr(pool, "_until_a_worker_dies", dies)
    with pytest.raises(Problem, match=f"unit 0: its worker died {LOSSES + 1} times"):
        run(units(tmp_path), workers=1)
    assert {unit.name for unit in tried} == {"unit 0"}


def test_no_workers_are_refused(tmp_path):
    with pytest.raises(Problem, match="workers must be at least 1, got 0"):
        run(units(tmp_path), workers=0)


def test_the_environment_is_left_as_it_was(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with pool._executor(1) as executor:
        assert executor.submit(os.getenv, "OMP_NUM_THREADS").result() == ONE_THREAD["OMP_NUM_THREADS"]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
