import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from isthmus.core import Problem
from isthmus.experiments import grid
from isthmus.experiments.paper import reproduce
from isthmus.experts import shipped


def files(folder):
    """Everything that a study publishes."""
    published = [*folder.glob("cells/*.json"), *folder.glob("figure-3.*")]
    return {path.relative_to(folder): path.read_bytes() for path in published}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, script):
    out = tmp_path_factory.mktemp("whole")
    subprocess.run([sys.executable, str(script), str(out)], check=True)
    return out / "figure-3"


def test_a_study_leaves_cells_and_a_summary_and_nothing_bulky(whole, tiny):
    cells = {path.stem for path in (whole / "cells").iterdir()}
    assert cells == {case.file(seed) for case in tiny.cases for seed in range(2) if case.robot == "reacher"}
    assert not list((whole / "runs").iterdir())
    summary = json.loads((whole / "figure-3.json").read_text())
    assert [(case["robot"], case["gap"], case["seeds"]) for case in summary["cases"]] == [
        ("reacher", "none", [0, 1]),
        ("reacher", "tilt=90", [0, 1]),
        ("hopper", "none", []),
    ]
    assert {path.suffix for path in whole.glob("figure-3.*")} == {".json", ".md", ".svg", ".html"}
    assert "| hopper | none | history | residual-action | 60 |  |  | missing |" in (whole / "figure-3.md").read_text()


def files_in(folder):
    """How many there are by now; folders that are removed meanwhile do not matter to `walk`, as they do to `rglob`."""
    return sum(len(files) for _, _, files in os.walk(folder))


def test_a_study_killed_at_random_moments_comes_to_the_same_files(whole, tmp_path, script, holders, eventually):
    command = [sys.executable, str(script), str(tmp_path)]
    chance = random.Random(1)
    for count in sorted(chance.sample(range(3, 40), 2)):
        with subprocess.Popen(command) as process:
            while process.poll() is None and files_in(tmp_path) < count:
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
        eventually(lambda: not holders(tmp_path))  # workers end with the study: nobody holds a run
    subprocess.run(command, check=True)
    assert files(tmp_path / "figure-3") == files(whole)


def test_what_is_there_is_not_run_again_and_more_seeds_go_on_from_fewer(whole, tmp_path, tiny, monkeypatch):
    for name, content in files(whole).items():
        (tmp_path / "figure-3" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "figure-3" / name).write_bytes(content)
    ran, seen = [], []
    monkeypatch.setattr(grid, "run_all", lambda cells, *_, **_how: ran.extend(cell.name for cell in cells))
    reproduce(tiny, tmp_path, seeds=2, only=["reacher"], watch=seen.append)
    assert ran == []
    assert (len(seen[0].found), seen[0].total) == (4, 4)
    assert files(tmp_path / "figure-3") == files(whole)
    reproduce(tiny, tmp_path, seeds=3, only=["reacher"])
    assert ran == ["reacher, none, history, seed 2", "reacher, tilt=90, history, seed 2"]


def test_a_cell_of_other_settings_is_refused(whole, tiny):
    [flat, *rest] = tiny.cases
    changed = dataclasses.replace(flat, config=dataclasses.replace(flat.config, samples=90))
    with pytest.raises(
        Problem, match=r"none-history-seed-000.json was made with other settings \(samples was 60, is 90\)"
    ):
        reproduce(dataclasses.replace(tiny, cases=(changed, *rest)), whole.parent, seeds=2)


def test_runs_can_be_kept(tiny, tmp_path):
    one = dataclasses.replace(tiny, cases=tiny.cases[:1])
    reproduce(one, tmp_path, seeds=1, keep_runs=True)
    [run] = (tmp_path / "figure-3" / "runs").iterdir()
    assert run.name.startswith("reacher-none-history-seed-000-")
    assert (run / "result.json").exists()
    reproduce(one, tmp_path, seeds=1)  # kept no longer
    assert not run.exists()


def test_a_robot_without_an_expert_is_refused_by_name_and_otherwise_missing(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "WEIGHTS", tmp_path / "nowhere")
    with pytest.raises(Problem, match="no expert ships for hopper yet"):
        reproduce(tiny, tmp_path, seeds=1, only=["hopper"])
    summary = reproduce(tiny, tmp_path, seeds=1)
    assert [one.missing for one in summary.tallies] == [(0,)] * 3


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"only": ["hoper"], "seeds": 1}, "unknown robot of figure-3 'hoper'.*did you mean 'hopper'"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
    ],
)
def test_what_makes_no_sense_is_refused(tiny, tmp_path, how, message):
    with pytest.raises(Problem, match=message):
        reproduce(tiny, tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()
