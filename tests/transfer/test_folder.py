import dataclasses
import json
import os
import shutil

import numpy as np
import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.robots import load_task
from isthmus.transfer import Config, Result, RunFolder, run_transfer
from isthmus.transfer.folder import SHOWN_OF_ROBOT
from isthmus.transfer.logs import logged

TINY = Config(
    "reacher",
    "tilt=90",
    "inverse",
    samples=60,
    round_samples=30,
    evaluation_episodes=50,
    settings=MethodSettings(fit=FitSettings(epochs=2)),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    return run_transfer(TINY, RunFolder(path)), path


@pytest.fixture
def run(whole, tmp_path):
    """A copy of a finished run, to be changed at will."""
    shutil.copytree(whole[1], tmp_path / "run")
    return RunFolder(tmp_path / "run")


def resumed(folder):
    return run_transfer(TINY, folder, resume=True)


def read_logs(folder):
    return logged(folder.path, load_task("reacher"))


USES = [resumed, read_logs]


# Nothing leads out of the folder


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
@pytest.mark.parametrize(
    "name", [".lock", "config.json", "result.json", "manifest.json", "rounds/000.json", "traces/new.npz", "report.html"]
)
def test_what_is_no_regular_file_is_refused_and_left_alone(run, tmp_path, name, kind, use):
    precious, victim = tmp_path / "precious", run.path / name
    precious.write_text("precious")
    victim.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(victim)
    else:
        victim.symlink_to(precious if kind == "link" else "/dev/zero")
    with pytest.raises(Problem, match=rf"{name} is a (symbolic link|named pipe)"):
        use(run)
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["episodes", "models", "rounds", "traces"])
def test_a_part_of_a_run_that_is_elsewhere_is_refused(run, tmp_path, name, use):
    (run.path / name).rename(tmp_path / name)
    (run.path / name).symlink_to(tmp_path / name)
    with pytest.raises(Problem, match=f"{name} is a symbolic link"):
        use(run)


def test_a_lock_that_leads_elsewhere_is_refused_in_a_new_folder_too(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(Problem, match="lock is a symbolic link"):
        run_transfer(TINY, RunFolder(tmp_path / "run"))
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_run_folder_may_itself_be_a_link_of_the_user_s(whole, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    assert run_transfer(TINY, RunFolder(tmp_path / "run")).curve == whole[0].curve


# What a run wrote, and nothing else


def test_every_file_that_is_read_again_is_listed(whole):
    path = whole[1]
    listed = json.loads((path / "manifest.json").read_text())["files"]
    files = {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}
    assert set(listed) == files - {".lock", "manifest.json"}
    assert {len(digests) for digests in listed.values()} == {1}


@pytest.mark.parametrize("use", USES)
def test_an_episode_of_another_run_is_refused(run, tmp_path, use):
    other = run_transfer(dataclasses.replace(TINY, seed=1), RunFolder(tmp_path / "other")) and tmp_path / "other"
    name = "episodes/001-000-00.npz"
    shutil.copy(other / name, run.path / name)
    with pytest.raises(Problem, match=rf"{name} is not as this run wrote it .*restore it"):
        use(run)
    shutil.copy(other / name, run.path / "episodes" / "001-000-77.npz")
    (run.path / name).unlink()
    with pytest.raises(Problem, match=r"001-000-77.npz was not written by this run .*remove it"):
        use(run)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["result.json", "baseline.json", "rounds/000.json", "config.json"])
def test_a_changed_digit_is_refused(run, name, use):
    path = run.path / name
    text = path.read_text()
    digit = next(i for i, letter in reversed(list(enumerate(text))) if letter.isdigit())
    path.write_text(text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :])
    with pytest.raises(Problem, match=rf"{name} is not as this run wrote it"):
        use(run)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 2}', '{"format": 1, "files": {"a": "b"}}'])
def test_a_damaged_manifest_is_named(run, content):
    (run.path / "manifest.json").write_text(content)
    with pytest.raises(Problem, match=r"manifest\.json"):
        resumed(run)


def test_a_run_from_before_manifests_goes_on_without_one_and_that_is_said(whole, run, caplog):
    (run.path / "manifest.json").unlink()
    for name in ("result.json", "rounds/001.json"):
        (run.path / name).unlink()
    config = json.loads(run.config_path.read_text())
    del config["working_folder"]
    run.config_path.write_text(json.dumps(config))
    assert resumed(run).curve == whole[0].curve
    assert [record.message for record in caplog.records] == [
        f"{run.path} has no manifest.json (it was made by an earlier version): its files are taken as they are"
    ]
    assert not (run.path / "manifest.json").exists()
    assert Result.load(run.result_path).curve == whole[0].curve
    assert read_logs(run)


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


@pytest.mark.parametrize("writes", range(0, 18, 2))
def test_a_run_that_is_killed_around_any_entry_of_the_manifest_goes_on(whole, tmp_path, monkeypatch, writes):
    """A kill leaves what a process that is gone leaves: files half written, or written and not yet in place."""
    written = []

    def dies(*_arguments, **_more):
        if len(written) == writes:
            raise Killed
        written.append(None)
        return sync(*_arguments, **_more)

    sync, unlink = os.fsync, type(tmp_path).unlink
    folder = RunFolder(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", dies)
        patch.setattr(type(tmp_path), "unlink", lambda *_arguments, **_more: None)  # nobody tidies up after a kill
        with pytest.raises(Killed):
            run_transfer(TINY, folder)
    assert type(tmp_path).unlink is unlink
    assert resumed(folder).curve == whole[0].curve
    folder.check()
    assert not list(folder.path.rglob("*.partial"))


FACTS = {kind: dict.fromkeys(names, 1.0) for kind, names in SHOWN_OF_ROBOT.items()}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in SHOWN_OF_ROBOT.items() for name in sorted(names)]
)
def test_a_record_of_a_robot_that_lacks_what_is_shown_is_refused(run, kind, name):
    lacking = FACTS | {kind: {other: 1.0 for other in FACTS[kind] if other != name}}
    run.robot_path.write_text(json.dumps({"parts": [lacking]}))
    with pytest.raises(Problem, match=f"not what happened with a robot .{kind} has no {name}"):
        run.robot_parts()


def test_a_robot_s_record_is_written_again_and_again(run):
    for number in range(3):
        run.save_robot(FACTS | {"pace": FACTS["pace"] | {"steps": number}})
        run.check()
    assert [part["pace"]["steps"] for part in run.robot_parts()] == [0, 1, 2]


@pytest.mark.parametrize("content", ["{}", '{"parts": 3}', '{"parts": [3]}', '{"parts": [{"pace": {"steps": "x"}}]}'])
def test_a_damaged_record_of_a_robot_is_named(run, content):
    run.robot_path.write_text(content)
    with pytest.raises(Problem, match=r"robot\.json is not what happened with a robot"):
        run.robot_parts()


@pytest.mark.parametrize("content", ["{}", '{"microseconds": "x"}', '{"microseconds": null}'])
def test_a_damaged_time_of_a_step_is_named(run, content):
    run.step_path.write_text(content)
    with pytest.raises(Problem, match=r"step\.json is not the time"):
        run.step_time()


def test_a_checkpoint_is_one_file_that_is_listed_and_replaced(run):
    checkpoint = run.checkpoint(3)
    assert checkpoint.load("practice") is None
    for spells in (1, 2):
        checkpoint.save(MethodState("practice", {"z": np.arange(3.0)}, {"spells": spells}))
    assert run.checkpoint(3).load("practice").about["spells"] == 2
    assert run.checkpoint(2).load("practice") is None
    run.check()
    with pytest.raises(Problem, match="003-practice"):
        checkpoint.load("another kind")
