import json
from dataclasses import replace

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import History, stream
from isthmus.evaluate import evaluate
from isthmus.evaluate.ceiling import ceiling, estimated_ceiling
from isthmus.evaluate.ceiling.fitted import FittedWorld
from isthmus.evaluate.ceiling.forward import fit_forward
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.models.linear_residual import LinearResidual
from isthmus.tasks import load_task
from isthmus.transfer.logs import gather

REACHER, HOPPER = load_task("reacher"), load_task("hopper")


def constant(errors, inputs):
    errors = np.asarray(errors, dtype=np.float64)
    weights = np.vstack((np.zeros((inputs, len(errors))), errors))
    return LinearResidual(np.zeros(inputs), np.ones(inputs), weights, np.abs(errors))


def logs(task, gap, samples):
    return gather(task, Gap.parse(gap), load_expert(task), samples, 0)


def test_the_estimate_is_what_the_oracle_finds_where_physics_explains_the_gap():
    expert, options = load_expert(REACHER), {"episodes": 10, "seed": 0}
    estimate = estimated_ceiling(REACHER, logs(REACHER, "tilt=90,mass=1.2", 200), "logs", expert, "even", **options)
    oracle = ceiling(REACHER, Gap.parse("tilt=90,mass=1.2"), expert, "even", **options)
    assert estimate.normalised == pytest.approx(oracle.normalised, abs=0.01)
    assert estimate.normalised_unadapted == pytest.approx(oracle.normalised_unadapted, abs=0.01)
    assert estimate.out_of_reach == pytest.approx(oracle.out_of_reach, abs=0.02)
    assert estimate.fitted.model_error < 0.01 * estimate.fitted.simulator_error
    assert not estimate.to_json()["oracle"]
    assert estimate.to_json()["estimate"]
    assert oracle.to_json()["oracle"]
    assert not oracle.to_json()["estimate"]
    assert oracle.to_json()["fitted"] is None


def test_a_residual_explains_what_is_no_physics_of_the_model():
    """Motors that pull to one side: the recorded actions are short of what really was applied."""
    biased = [[replace(one, applied=one.applied - 0.2) for one in episode] for episode in logs(REACHER, "none", 300)]
    fitted = fit_forward(REACHER, biased).fitted
    assert fitted.samples == 300
    assert fitted.model_error < 0.05 * fitted.simulator_error


def test_without_a_residual_the_fitted_world_is_the_simulator():
    spec, n = HOPPER.embodiment.spec, 4
    none = constant(np.zeros(11), 14)
    world = FittedWorld(HOPPER.embodiment, HOPPER.embodiment.model, none, spec.targets, n)
    expert = load_expert(HOPPER)
    fitted = evaluate(HOPPER, world, lambda history: expert(history)[:, ::-1], 1, stream(0))
    plain = evaluate(HOPPER, HOPPER.source(n), lambda history: expert(history)[:, ::-1], 1, stream(0))
    assert fitted.lengths.max() < spec.horizon  # they fall, each at its time
    np.testing.assert_array_equal(fitted.lengths, plain.lengths)
    np.testing.assert_allclose(fitted.scores, plain.scores)


def test_the_residual_moves_the_state_and_what_is_predicted_is_what_happens():
    spec, n = HOPPER.embodiment.spec, 3
    push = np.zeros(12)
    push[6], push[8] = 0.05, -0.02
    residual = constant(push[spec.targets], 14)
    world = FittedWorld(HOPPER.embodiment, HOPPER.embodiment.model, residual, spec.targets, n)
    observations, rng = world.reset(stream(0)), stream(1)
    for _ in range(5):
        actions = rng.uniform(-1, 1, (n, 3))
        expected = world.predict(History.of(observations), actions)
        plain = HOPPER.source(n).predict(History.of(observations), actions)
        np.testing.assert_allclose(expected - plain, np.tile(push, (n, 1)), atol=1e-12)
        observations = world.step(actions).observations
        np.testing.assert_allclose(observations, expected, atol=1e-5)
        np.testing.assert_allclose(world.fields["qvel"], observations[:, 6:])
    np.testing.assert_array_equal(world.place(observations), observations)


def test_an_estimate_from_a_runs_logs_is_labelled(capsys, tmp_path):
    run = str(tmp_path / "run")
    options = ["--gap", "tilt=90", "--method", "pd", "--samples", "100", "--no-report", "--evaluation-episodes", "50"]
    main(["transfer", "reacher", *options, "--out", run, "--json"])
    capsys.readouterr()
    main(["ceiling", "reacher", "--logs", run, "--episodes", "4"])
    printed = capsys.readouterr().out
    assert "ceiling (estimate: in the fitted model)" in printed
    assert "estimated from 100 recorded steps" in printed
    assert "oracle" not in printed
    main(["ceiling", "reacher", "--logs", run, "--episodes", "4", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert (figures["oracle"], figures["estimate"]) == (False, True)
    assert figures["normalised"] > figures["normalised_unadapted"]
    assert figures["fitted"]["samples"] == 100
