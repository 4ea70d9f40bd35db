import dataclasses
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus.adapt import MethodSettings
from isthmus.adapt.common.reference import Reference
from isthmus.adapt.settings import CollectSettings, FitSettings
from isthmus.core import Problem, Trajectory, rollout, stream
from isthmus.robots import load_task
from isthmus.transfer import Config, PolicyFile, Result, RunFolder, run_transfer, shared_context
from isthmus.transfer.source.context import SourceContext
from isthmus.transfer.source.policy import source_policy
from isthmus.transfer.source.reference import write_reference
from isthmus.transfer.targets.target import SimulatedTarget

TINY = Config(
    "reacher",
    "tilt=90",
    "inverse",
    samples=110,
    round_samples=50,
    evaluation_episodes=50,
    settings=MethodSettings(history=2, fit=FitSettings(epochs=3)),
)

ANY = Trajectory(*(np.zeros((steps, width)) for steps, width in ((4, 11), (3, 2), (3, 2), (3, 2), (3, 11))))


def figures(result: Result):
    """Everything but how long it took."""
    return {name: value for name, value in result.to_json().items() if name != "seconds"}


def contents(path: Path):
    return {file.relative_to(path): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    return run_transfer(TINY, RunFolder(path)), path


def test_the_result_has_all_figures(whole):
    result, path = whole
    data = json.loads((path / "result.json").read_text())
    assert {
        *("task", "gap", "method", "history", "seed", "samples", "expert", "unadapted", "adapted"),
        *("normalised_unadapted", "normalised_adapted", "curve", "seconds", "versions"),
    } <= data.keys()
    assert [point["samples"] for point in data["curve"]] == [0, 50, 100, 110]
    assert set(data["seconds"]) == {"collect", "fit", "evaluate"}
    assert data["normalised_adapted"] == data["curve"][-1]["normalised"]
    assert data["normalised_unadapted"] == (data["unadapted"] - data["zero"]) / (data["expert"] - data["zero"])
    assert Result.load(path / "result.json") == result


def test_samples_are_the_steps_that_were_recorded(whole):
    result, path = whole
    assert result.samples == 110 == sum(one.samples for episode in RunFolder(path).episodes() for one in episode)


def test_the_same_seed_gives_the_same_run_bit_for_bit(whole, tmp_path):
    result, path = whole
    assert figures(run_transfer(TINY, RunFolder(tmp_path))) == figures(result)
    for part in ("episodes", "models", "traces"):
        assert contents(tmp_path / part) == contents(path / part)


@pytest.mark.parametrize("method", ["inverse", "residual-action"])
def test_what_is_known_can_be_shared_by_crossings_that_follow_each_other(tmp_path, method):
    config = dataclasses.replace(TINY, method=method)
    alone = run_transfer(config, RunFolder(tmp_path / "alone"))
    side = shared_context(config.task, config.policy, config.seed)
    before = dataclasses.replace(config, gap="torque-scale=0.7", settings=MethodSettings())
    run_transfer(before, RunFolder(tmp_path / "before"), context=side)
    shared = run_transfer(config, RunFolder(tmp_path / "shared"), context=side)
    assert figures(shared) == figures(alone)
    assert shared_context(config.task, config.policy, config.seed) is side


def test_the_expert_is_judged_once_behind_each_gap(tmp_path, monkeypatch):
    judged, score = [], SimulatedTarget.score

    def counted(self, policy, *others):
        judged.append(policy)
        return score(self, policy, *others)

    monkeypatch.setattr(SimulatedTarget, "score", counted)
    side = SourceContext.of("reacher", None, 0)
    gaps = ("tilt=90", "tilt=90", "tilt=60")
    results = [
        run_transfer(dataclasses.replace(TINY, gap=gap, method="unadapted"), RunFolder(tmp_path / str(n)), context=side)
        for n, gap in enumerate(gaps)
    ]
    assert judged == [side.policy] * 2
    assert results[0].unadapted == results[1].unadapted != results[2].unadapted


def test_another_seed_gives_another_run(whole, tmp_path):
    other = run_transfer(dataclasses.replace(TINY, seed=1), RunFolder(tmp_path))
    assert other.normalised_adapted != whole[0].normalised_adapted


def test_a_finished_run_is_given_back_as_it_is(whole):
    result, path = whole
    before = contents(path)
    assert run_transfer(TINY, RunFolder(path), resume=True) == result
    assert contents(path) == before


def test_unadapted_takes_no_samples(tmp_path):
    result = run_transfer(dataclasses.replace(TINY, method="unadapted"), RunFolder(tmp_path))
    assert result.samples == 0
    assert result.adapted == result.unadapted


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


@pytest.mark.parametrize("share", [0.0, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9])
def test_a_run_that_dies_at_any_write_comes_to_the_same_result(whole, tmp_path, monkeypatch, share):
    replace, written = Path.replace, []
    survived = int(share * len(contents(whole[1])))

    def dies(self, target):
        if len(written) == survived:
            raise Killed
        written.append(target)
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", dies)
        with pytest.raises(Killed):
            run_transfer(TINY, RunFolder(tmp_path))
    kept = contents(tmp_path / "episodes") if (tmp_path / "episodes").exists() else {}
    result = run_transfer(TINY, RunFolder(tmp_path), resume=True)
    assert figures(result) == figures(whole[0])
    after = contents(tmp_path / "episodes")
    assert kept == {name: after[name] for name in kept}
    assert after == contents(whole[1] / "episodes")


def test_a_process_killed_at_random_moments_comes_to_the_same_result(whole, tmp_path):
    options = ["--gap", "tilt=90", "--method", "inverse", "--samples", "110", "--round-samples", "50", "--history", "2"]
    options += [
        "--evaluation-episodes",
        "50",
        "--fit.epochs",
        "3",
        "--no-report",
        "--resume",
        "--out",
        str(tmp_path / "run"),
    ]
    command = [sys.executable, "-m", "isthmus", "transfer", "reacher", *options]
    chance = random.Random(0)
    for files in sorted(chance.sample(range(2, 16), 2)):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and sum(len(names) for _, _, names in os.walk(tmp_path)) < files:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert figures(Result.load(tmp_path / "run" / "result.json")) == figures(whole[0])
    assert contents(tmp_path / "run" / "episodes") == contents(whole[1] / "episodes")


@pytest.mark.parametrize("writes", [0, 4, 9])
def test_a_full_disk_is_said_and_loses_nothing(whole, tmp_path, monkeypatch, writes):
    sync, done = os.fsync, []

    def full(descriptor):
        if len(done) >= writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done.append(descriptor)
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(Problem, match="No space left on device"):
            run_transfer(TINY, RunFolder(tmp_path))
    assert not list(tmp_path.rglob("*.partial"))
    assert figures(run_transfer(TINY, RunFolder(tmp_path), resume=True)) == figures(whole[0])


def refused(config, path, message, *, resume=True):
    before = contents(path) if path.is_dir() else path.read_bytes()
    with pytest.raises(Problem, match=message):
        run_transfer(config, RunFolder(path), resume=resume)
    after = contents(path) if path.is_dir() else path.read_bytes()
    if isinstance(after, dict):
        after.pop(Path(".lock"), None)
        before.pop(Path(".lock"), None)
    assert after == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 7}, "seed is 0 there, 7 here"),
        ({"gap": "tilt=45"}, "gap is tilt=90 there, tilt=45 here"),
        ({"samples": 500}, "samples is 110 there, 500 here"),
        ({"settings": MethodSettings(history=1, fit=FitSettings(epochs=3))}, "settings.history is 2 there, 1 here"),
    ],
)
def test_a_folder_of_another_run_is_refused_and_left_alone(whole, change, message):
    refused(dataclasses.replace(TINY, **change), whole[1], f"belongs to another run.*{message}")


def test_linear_algebra_runs_on_one_thread(tmp_path):
    def blas():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    seen = []
    with threadpool_limits(2, user_api="blas"):
        run_transfer(TINY, RunFolder(tmp_path), watch=lambda _event: seen.extend(blas()))
        assert set(blas()) == {2}
    assert set(seen) == {1}


def test_a_run_is_not_started_over_by_accident(whole):
    refused(TINY, whole[1], "already holds a run.*--resume", resume=False)


def test_a_run_that_was_killed_before_it_had_written_anything_begins_anew(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / ".config.json.oj9h34ht.partial").write_text("{")
    with RunFolder(tmp_path).claimed(TINY, resume=True):
        assert {entry.name for entry in tmp_path.iterdir()} == {".lock", "config.json", "manifest.json"}


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    refused(TINY, tmp_path, "files that are not a run's")


def test_a_file_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("precious")
    refused(TINY, tmp_path / "run", "is a file")


def test_two_processes_cannot_share_a_folder(tmp_path):
    folder = RunFolder(tmp_path)
    with folder.claimed(TINY, resume=False), pytest.raises(Problem, match="in use by another process"):
        run_transfer(TINY, RunFolder(tmp_path), resume=True)


def copied(whole, tmp_path, *, listed=False):
    """A copy of a run that is not finished; without its manifest, files that were changed are read."""
    for name, content in contents(whole[1]).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "result.json").unlink()
    if not listed:
        (tmp_path / "manifest.json").unlink()
    return tmp_path


def test_a_damaged_episode_is_named(whole, tmp_path):
    path = copied(whole, tmp_path)
    victim = sorted((path / "episodes").glob("*.npz"))[1]
    victim.write_bytes(victim.read_bytes()[:-100])
    refused(TINY, path, victim.name)


@pytest.mark.parametrize("which", [0, -1])
def test_a_missing_episode_is_told(whole, tmp_path, which):
    path = copied(whole, tmp_path)
    sorted((path / "episodes").glob("000-*.npz"))[which].unlink()
    refused(TINY, path, "restore the missing ones")


def test_a_missing_wave_is_named(whole, tmp_path):
    path = copied(whole, tmp_path)
    (path / "rounds" / "000.json").unlink()
    first = path / "episodes" / "000-000-00.npz"
    first.rename(path / "episodes" / "000-001-00.npz")
    refused(TINY, path, "wave 0 of round 0 is missing")


def test_a_wave_whose_writing_was_cut_short_is_collected_again(tmp_path):
    folder = RunFolder(tmp_path)
    episodes = [[dataclasses.replace(ANY, commands=ANY.commands + number)] for number in range(3)]
    folder.save_wave(0, 0, episodes)
    folder.save_wave(0, 1, episodes)
    (tmp_path / "episodes" / "000-001-00.npz").unlink()
    [wave] = folder.waves(0)
    assert [float(episode[0].commands[0, 0]) for episode in wave] == [0.0, 1.0, 2.0]


def test_a_run_ends_once_two_evaluations_came_to_what_is_enough(tmp_path):
    easy = dataclasses.replace(TINY, samples=500, stop_at_score=-100.0)
    assert run_transfer(easy, RunFolder(tmp_path / "easy")).samples == 100
    hard = dataclasses.replace(TINY, stop_at_score=100.0)
    assert run_transfer(hard, RunFolder(tmp_path / "hard")).samples == 110


def test_rounds_that_are_glanced_at_learn_the_same_and_the_last_one_is_judged_in_full(tmp_path, whole):
    glanced = run_transfer(dataclasses.replace(TINY, interim_episodes=True), RunFolder(tmp_path / "run"))
    judged, _ = whole
    assert glanced.curve[-1] == judged.curve[-1]
    for ours, theirs in zip(glanced.curve[1:-1], judged.curve[1:-1], strict=True):
        assert ours.samples == theirs.samples
        assert ours.normalised != theirs.normalised


NONSENSE = ['{"nonsense": true', '{"nonsense": true}', "[]", "", '{"zero": {"score": "x", "std": null}}']


@pytest.mark.parametrize("content", NONSENSE)
@pytest.mark.parametrize("name", ["config.json", "baseline.json", "rounds/000.json", "models/001.npz"])
def test_a_damaged_file_of_a_run_is_named(whole, tmp_path, name, content):
    path = copied(whole, tmp_path)
    (path / name).write_text(content)
    refused(TINY, path, name.split("/")[-1])


def test_a_gap_that_does_not_fit_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(Problem, match="'tilt' does not fit"):
        run_transfer(dataclasses.replace(TINY, task="hopper"), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 0}, "samples must be at least 1"),
        ({"evaluation_episodes": 10}, "evaluation-episodes must be at least 50"),
        ({"environment": "Reacher-v5"}, "an environment is a target of its own"),
        (
            {"environment": "Reacher-v5", "gap": "none", "settings": MethodSettings(collect=CollectSettings(placed=1))},
            "cannot be put into a state",
        ),
        ({"seed": -1}, "seed must be at least 0"),
        ({"round_samples": 0}, "round-samples must be at least 1"),
        ({"method": "magic"}, "unknown method 'magic'"),
        ({"settings": MethodSettings(history=0)}, "history must be at least 1"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(change, message):
    with pytest.raises(Problem, match=message):
        dataclasses.replace(TINY, **change)


def test_a_crossing_helps(tmp_path):
    config = Config("reacher", "tilt=90", samples=500, evaluation_episodes=50)
    result = run_transfer(config, RunFolder(tmp_path))
    assert result.expert - result.unadapted > 0.5
    assert result.normalised_adapted > result.normalised_unadapted + 0.1


def test_without_a_gap_nothing_is_lost(tmp_path):
    config = dataclasses.replace(TINY, gap="none", method="unadapted")
    result = run_transfer(config, RunFolder(tmp_path))
    np.testing.assert_allclose(result.normalised_unadapted, 1.0)


def test_rounds_end_where_they_are_told_to(tmp_path):
    config = dataclasses.replace(TINY, round_ends=(30, 80))
    assert [point.samples for point in run_transfer(config, RunFolder(tmp_path / "run")).curve] == [0, 30, 80, 110]
    assert Config.load(tmp_path / "run" / "config.json") == config
    assert (
        dataclasses.replace(config, method="fine-tune", samples=5000, round_ends=(500, 1000, 3000)).round_end(0) == 1000
    )
    with pytest.raises(Problem, match="ascending order, got 80, 30"):
        dataclasses.replace(TINY, round_ends=(80, 30))


def test_the_first_episodes_along_a_recording_are_half_as_long_as_the_task(tmp_path):
    task = load_task("fetch-swing")
    spec = task.robot_model.spec
    world = task.source()
    expert = source_policy(task, None)
    seen = [one.before for one in rollout(world, expert, world.reset(stream(0)), steps=spec.horizon)]
    write_reference(tmp_path / "swing.npz", Reference((np.concatenate(seen),)), spec)
    config = Config(
        "fetch-swing",
        "torque-scale=0.7",
        "preview",
        samples=300,
        round_samples=300,
        evaluation_episodes=50,
        policy=PolicyFile(str(tmp_path / "swing.npz"), reference=True),
    )
    folder = RunFolder(tmp_path / "run")
    run_transfer(config, folder)
    lengths = [len(episode[0]) for wave in folder.waves(0) for episode in wave]
    assert lengths == [spec.horizon // 2] * (600 // spec.horizon)
