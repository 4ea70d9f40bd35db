import os
import signal
import threading
from functools import partial

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.experiments import pool
from isthmus.experiments.grid import Cell, RunFolders, run_grid, transfer
from isthmus.experiments.pool import LOSSES, ONE_THREAD
from isthmus.transfer import Config

SETTINGS = MethodSettings(fit=FitSettings(epochs=2))


def run(folder, count=3, **how):
    """The results of some tiny runs, but for how long they took."""
    tiny = {"samples": 90, "round_samples": 30, "evaluation_episodes": 50, "settings": SETTINGS}
    cells = [
        Cell(
            f"cell {seed}",
            f"{seed}",
            partial(transfer, Config("reacher", "tilt=90", "residual-action", seed=seed, **tiny)),
        )
        for seed in range(count)
    ]
    found = run_grid(cells, RunFolders(folder), lambda _progress: None, **how)
    return {file: result.to_json() | {"seconds": 0} for file, result in found.items()}


def test_a_killed_worker_neither_loses_nor_changes_a_result(tmp_path, holders, eventually):
    killed = []

    def kill():
        eventually((tmp_path / "killed" / "0" / "baseline.json").exists)
        killed.append(holders(tmp_path / "killed" / "0")[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    disturbed = run(tmp_path / "killed", workers=2)
    killer.join()
    assert killed
    assert killed[0] != os.getpid()
    assert disturbed == run(tmp_path / "whole", workers=1)


def test_a_problem_comes_out_as_it_is_with_the_name_of_its_cell(tmp_path):
    (tmp_path / "1").write_text("precious")
    with pytest.raises(Problem, match=r"^cell 1: .*/1 is a file: give the name of a folder$"):
        run(tmp_path, 2, workers=1)


def test_a_cell_whose_workers_keep_dying_is_given_up(tmp_path, monkeypatch):
    tried = []

    def dies(waiting, _run, _deliver, _workers, *, fresh):
        tried.append(waiting.popleft())
        return [tried[-1]]

    monkeypatch.setattr(pool, "_until_a_worker_dies", dies)
    with pytest.raises(Problem, match=f"cell 0: its worker died {LOSSES + 1} times"):
        run(tmp_path, workers=1)
    assert {cell.name for cell in tried} == {"cell 0"}


def test_no_workers_are_refused(tmp_path):
    with pytest.raises(Problem, match="workers must be at least 1, got 0"):
        run(tmp_path, workers=0)


def test_the_environment_is_left_as_it_was(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with pool._executor(1) as executor:
        assert executor.submit(os.getenv, "OMP_NUM_THREADS").result() == ONE_THREAD["OMP_NUM_THREADS"]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
