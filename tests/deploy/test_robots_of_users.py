"""Robots and policies that are not part of Isthmus: code stays outside, and files come along."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isthmus.adapt import make_method
from isthmus.cli import main
from isthmus.core import History, Problem
from isthmus.deploy import load_policy
from isthmus.deploy.export import FinishedRun, export_bundle
from isthmus.deploy.load import no_finetuner
from isthmus.deploy.onnx_graph import OnnxGraph
from isthmus.policies.load import load_policy as load_policy_file
from isthmus.robots import load_task
from isthmus.transfer import Config
from isthmus.transfer.source.source import make_source

from .conftest import SETTINGS, arx, commands_of, course

LAMP = """
from isthmus.robots.reacher import make_reacher

def make_task():
    from dataclasses import replace
    return replace(make_reacher(arm_mass={mass}), name="lamp", policy={policy})
"""
CODE = "lambda history: 0.1 * history.current[:, :2]"
NETWORK = "__import__('isthmus').experts.load_expert(make_reacher())"


def lamp(folder, policy=CODE, mass=3.0):
    path = folder / "lamp.py"
    path.write_text(LAMP.format(mass=mass, policy=policy))
    return str(path)


def run_of(text, policy, name="unadapted", state=None):
    task = load_task(text)
    source = replace(make_source(task, policy, 0), finetuner=no_finetuner)
    method = make_method(name, source, SETTINGS)
    if state is not None:
        method.restore(state)
    return FinishedRun(Config(text, method=name, settings=SETTINGS), task, source, method, state, method.policy())


def test_a_robot_file_is_named_by_whoever_loads_the_bundle(tmp_path):
    text = lamp(tmp_path)
    task = load_task(text)
    run = run_of(text, task.policy, "preview", arx(task.robot_model.spec).state())
    manifest = export_bundle(run, tmp_path / "bundle")
    assert not list((tmp_path / "bundle").rglob("*.py"))
    assert manifest.robot.task == "lamp.py"
    with pytest.raises(Problem, match=r"its robot is the Python file lamp\.py, and no code is in a bundle; name it by"):
        load_policy(tmp_path / "bundle")
    observations, applied = course(run)
    policy = load_policy(tmp_path / "bundle", task=text)
    found = [policy.act(seen, applied[row - 1]) for row, seen in enumerate(observations)]
    np.testing.assert_allclose(found, commands_of(run, observations, applied), rtol=0, atol=1e-9)


def test_another_robot_in_the_file_is_noticed(tmp_path):
    text = lamp(tmp_path)
    export_bundle(run_of(text, load_task(text).policy), tmp_path / "bundle")
    lamp(tmp_path, mass=3.1)
    with pytest.raises(Problem, match="has another model than the one that"):
        load_policy(tmp_path / "bundle", task=text)


def test_a_whole_step_in_one_graph_acts_without_the_robot_file(tmp_path):
    text = lamp(tmp_path, NETWORK)
    run = run_of(text, load_task(text).policy)
    export_bundle(run, tmp_path / "bundle")
    Path(text).unlink()
    policy = load_policy(tmp_path / "bundle")
    assert policy.runtime == "fused"
    observations, applied = course(run)
    found = [policy.act(seen, applied[row - 1]) for row, seen in enumerate(observations)]
    np.testing.assert_allclose(found, commands_of(run, observations, applied), rtol=0, atol=1e-6)


def test_a_foreign_onnx_policy_comes_along_with_its_normaliser(tmp_path, reacher):
    from isthmus.policies.normaliser import Normaliser

    graph = OnnxGraph("foreign")
    weight = np.random.default_rng(0).normal(size=(10, 2)) / 3
    doubled = graph.add("MatMul", "obs", graph.constant(weight))
    (tmp_path / "foreign.onnx").write_bytes(graph.content("obs", 10, doubled, "actions", 2))
    spec = reacher.robot_model.spec
    foreign = load_policy_file(tmp_path / "foreign.onnx", reacher.views, spec)
    foreign = replace(foreign, normaliser=Normaliser(np.linspace(-1, 1, 10), np.linspace(0.5, 2, 10), 1.5))
    run = run_of("reacher", foreign)
    manifest = export_bundle(run, tmp_path / "bundle")
    assert manifest.policy.kind == "onnx"
    assert "no network of Isthmus" in manifest.adapter.fused
    observations, applied = course(run, steps=4)
    policy = load_policy(tmp_path / "bundle")
    found = [policy.act(seen, applied[row - 1]) for row, seen in enumerate(observations)]
    np.testing.assert_allclose(found, commands_of(run, observations, applied), rtol=0, atol=1e-9)
    shown = np.clip((observations[0, :10] - np.linspace(-1, 1, 10)) / np.linspace(0.5, 2, 10), -1.5, 1.5)
    np.testing.assert_allclose(found[0], spec.clip(shown[None] @ weight)[0], rtol=1e-9)
    np.testing.assert_allclose(foreign(History.of(observations[:1]))[0], shown @ weight)


@pytest.fixture(scope="module")
def crossing(tmp_path_factory):
    """A run of Reacher by the command line, small."""
    folder = tmp_path_factory.mktemp("crossing") / "run"
    options = ["--samples", "60", "--method", "residual-action", "--evaluation-episodes", "16", "--no-report"]
    main(["transfer", "reacher", "--gap", "tilt=90", *options, "--out", str(folder)])
    return folder


def test_the_command_exports_what_the_run_came_to(crossing, tmp_path, capsys):
    from isthmus.transfer import RunFolder, load_adapted

    main(["deploy", "export", str(crossing), "--out", str(tmp_path / "bundle"), "--json"])
    manifest = json.loads(capsys.readouterr().out)
    assert manifest["made_from"]["target"] == "tilt=90"
    assert set(manifest["files"]) == {
        path.relative_to(tmp_path / "bundle").as_posix() for path in (tmp_path / "bundle").rglob("*.*")
    } - {"manifest.json"}
    policy, controller = load_policy(tmp_path / "bundle"), load_adapted(RunFolder(crossing))
    rng = np.random.default_rng(0)
    for _ in range(5):
        seen = rng.normal(size=11)
        np.testing.assert_allclose(policy.act(seen), controller(seen), rtol=0, atol=1e-9)


def test_a_policy_that_the_run_was_not_made_with_is_refused(crossing, tmp_path, capsys):
    from isthmus.experts import expert_path

    shutil.copy(expert_path("reacher"), tmp_path / "mine.npz")
    with pytest.raises(SystemExit):
        main(["deploy", "export", str(crossing), "--policy", str(tmp_path / "mine.npz"), "--out", str(tmp_path / "b")])
    assert "was made with the task's own policy: leave out" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "b").exists()
