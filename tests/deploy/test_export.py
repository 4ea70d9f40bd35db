"""A bundle of every method and of every robot acts as the run did."""

import numpy as np
import pytest

from isthmus.adapt import METHODS
from isthmus.core import Problem
from isthmus.deploy import load_policy
from isthmus.deploy.export import FinishedRun, export_bundle
from isthmus.deploy.manifest import Bundle
from isthmus.robots import TASKS
from isthmus.transfer import RunFolder

from .conftest import LEARNED, commands_of, course, finished


def follow(policy, observations, applied):
    policy.reset()
    return np.array([policy.act(seen, applied[row - 1]) for row, seen in enumerate(observations)])


def test_every_method_is_tried():
    assert {name for name, _ in LEARNED.values()} == set(METHODS)


@pytest.mark.parametrize("case", LEARNED)
def test_a_bundle_of_every_method_acts_as_the_run_did(case, tmp_path):
    run = finished("reacher", case, "tilt=60")
    manifest = export_bundle(run, tmp_path / "bundle")
    observations, applied = course(run, steps=6 if METHODS[run.config.method].slow else 12)
    expected = commands_of(run, observations, applied)
    unadapted = commands_of(finished("reacher", "unadapted"), observations, applied)
    assert (np.abs(expected - unadapted).max() > 1e-3) == (case not in ("unadapted", "auto, unadapted"))
    np.testing.assert_allclose(
        follow(load_policy(tmp_path / "bundle"), observations, applied), expected, rtol=0, atol=1e-9
    )
    by_onnx = load_policy(tmp_path / "bundle", runtime="onnx")
    np.testing.assert_allclose(follow(by_onnx, observations, applied), expected, rtol=0, atol=1e-5)
    assert set(manifest.adapter.networks) == {path.stem for path in (tmp_path / "bundle" / "networks").glob("*.onnx")}
    assert manifest.adapter.step_us["p50"] > 0
    assert ("fused.onnx" in manifest.files) == (not manifest.adapter.fused)
    if case == "residual-action, no observer":
        fused = load_policy(tmp_path / "bundle", runtime="fused")
        np.testing.assert_allclose(follow(fused, observations, applied), expected, rtol=0, atol=1e-6)


ROBOTS = {
    "reacher:arm-mass=3.5": ("pd",),
    "hopper": ("unadapted", "auto, late", "correction"),
    "half-cheetah": ("pd", "residual-action", "inverse"),
    "humanoid": ("unadapted",),
    "walker2d": ("pd", "residual-action", "auto, other weights", "fine-tune"),
    "ant": ("unadapted",),
    "fetch-swing": ("preview", "model-inverse", "inverse"),
    "leg-squat:frequency=1.5": ("preview",),
    "anymal": ("unadapted",),
}
"""Robots, and some methods for each."""


def test_every_robot_that_ships_is_tried():
    assert {name.partition(":")[0] for name in ROBOTS} == set(TASKS)


@pytest.mark.parametrize(("robot", "case"), [(robot, case) for robot, cases in ROBOTS.items() for case in cases])
def test_a_bundle_of_every_robot_acts_as_the_run_did(robot, case, tmp_path):
    run = finished(robot, case)
    export_bundle(run, tmp_path / "bundle")
    observations, applied = course(run, steps=6)
    expected = commands_of(run, observations, applied)
    for runtime, atol in (("numpy", 1e-9), ("onnx", 1e-5)):
        found = follow(load_policy(tmp_path / "bundle", runtime=runtime), observations, applied)
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_a_step_that_needs_the_simulator_says_so_and_why(reacher_bundle):
    adapter = Bundle(reacher_bundle[0]).manifest.adapter
    assert "simulat" in adapter.simulates
    assert adapter.fused == adapter.header == adapter.simulates
    with pytest.raises(Problem, match=r"has no fused.onnx: disturbances are estimated"):
        load_policy(reacher_bundle[0], runtime="fused")


def test_nothing_is_left_and_nothing_overwritten_where_a_folder_is_taken(reacher_bundle, tmp_path):
    _, run = reacher_bundle
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    with pytest.raises(Problem, match="is there already: give a new or empty folder"):
        export_bundle(run, tmp_path / "taken")
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "mine.txt"]


def test_a_folder_that_is_no_finished_run_is_refused(tmp_path):
    with pytest.raises(Problem, match="is not the folder of a finished run"):
        FinishedRun.load(RunFolder(tmp_path))
