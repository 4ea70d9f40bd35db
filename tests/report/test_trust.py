"""A robot file is code: nothing in a run folder makes it run."""

import json
import os
import shlex
import shutil

import pytest

from isthmus.cli import main
from isthmus.core import Problem
from isthmus.report.run import Run
from isthmus.transfer import RunFolder

ROBOT = """
from pathlib import Path
from isthmus.robots import load_task
Path(__file__).with_name("trap").mkdir(exist_ok=True)

def make_task():
    return load_task("reacher")
"""


@pytest.fixture
def stranger(finished, tmp_path):
    """A run folder whose configuration names a robot file, and that file."""
    folder, file = RunFolder(tmp_path / "run"), tmp_path / "code" / "robot.py"
    shutil.copytree(finished.path, folder.path, ignore=shutil.ignore_patterns("manifest.json"))
    file.parent.mkdir()
    file.write_text(ROBOT)
    config = json.loads(folder.config_path.read_text())
    folder.config_path.write_text(json.dumps(config | {"task": "robot.py", "working_folder": str(file.parent)}))
    return folder, file


def ran(file):
    trap = file.with_name("trap")
    was_run = trap.exists()
    if was_run:
        trap.rmdir()
    return was_run


def test_a_robot_file_that_a_folder_names_is_not_run(stranger, capsys):
    folder, file = stranger
    with pytest.raises(SystemExit, match="2"):
        main(["report", str(folder.path)])
    said = capsys.readouterr().err
    assert "is Python code and is run only if you name it" in said
    assert not ran(file)
    command = said.partition("name it: ")[2].partition(" (or ")[0]
    main([*shlex.split(command)[1:], "--no-video"])
    assert ran(file)


def test_a_robot_file_is_run_when_it_is_named_or_trusted_wherever_one_is(stranger, monkeypatch, tmp_path):
    folder, file = stranger
    assert Run.load(folder, trust=True).task.name == "reacher"
    assert ran(file)
    monkeypatch.chdir(file.parent)
    Run.load(folder, task="robot.py")
    assert ran(file)


def test_logs_are_read_without_running_the_robot_file_of_the_run(stranger, capsys):
    folder, file = stranger
    main(["analyse", "identify", "reacher", "--logs", str(folder.path), "--json"])
    assert json.loads(capsys.readouterr().out)["samples"] == 100
    assert not ran(file)
    with pytest.raises(SystemExit, match="2"):
        main(["analyse", "identify", "hopper", "--logs", str(folder.path)])
    assert "observes 11 numbers and has 2 actuators" in capsys.readouterr().err
    assert not ran(file)


def test_a_policy_that_a_folder_names_is_not_opened(stranger):
    folder, _ = stranger
    os.mkfifo(folder.path.parent / "policy.zip")
    policy = {"path": str(folder.path.parent / "policy.zip"), "normaliser": "/dev/zero", "digest": "00"}
    config = json.loads(folder.config_path.read_text())
    folder.config_path.write_text(json.dumps(config | {"task": "reacher", "policy": policy}))
    assert Run.load(folder).config.policy.path == policy["path"]


def test_another_task_than_the_run_s_is_refused(finished):
    with pytest.raises(Problem, match="is a run of reacher, not of hopper"):
        Run.load(finished, task="hopper")
