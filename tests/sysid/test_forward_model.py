import json
from dataclasses import replace

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import stream
from isthmus.evaluate.oracle import estimated_oracle_score, oracle_score
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sysid.forward_model import fit_forward_model
from isthmus.transfer.logs import gather

REACHER = load_task("reacher")


def logs(task, gap, samples):
    return gather(task, Gap.parse(gap), load_expert(task), samples, 0)


def test_the_estimate_is_what_the_oracle_finds_where_physics_explains_the_gap():
    expert, options = load_expert(REACHER), {"episodes": 10, "seed": 0}
    estimate = estimated_oracle_score(
        REACHER, logs(REACHER, "tilt=90,mass=1.2", 200), "logs", expert, "even", **options
    )
    oracle = oracle_score(REACHER, Gap.parse("tilt=90,mass=1.2"), expert, "even", **options)
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
    fitted = fit_forward_model(REACHER.robot_model, biased).fitted
    assert fitted.samples == 300
    assert fitted.model_error < 0.05 * fitted.simulator_error


def test_an_estimate_from_a_runs_logs_is_labelled(capsys, tmp_path):
    run = str(tmp_path / "run")
    options = ["--gap", "tilt=90", "--method", "pd", "--samples", "100", "--no-report", "--evaluation-episodes", "50"]
    main(["transfer", "reacher", *options, "--out", run, "--json"])
    capsys.readouterr()
    main(["analyse", "oracle", "reacher", "--logs", run, "--episodes", "4"])
    printed = capsys.readouterr().out
    assert "oracle (estimate: in the fitted model)" in printed
    assert "estimated from 100 recorded steps" in printed
    assert "looks into the target" not in printed
    main(["analyse", "oracle", "reacher", "--logs", run, "--episodes", "4", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert (figures["oracle"], figures["estimate"]) == (False, True)
    assert figures["normalised"] > figures["normalised_unadapted"]
    assert figures["fitted"]["samples"] == 100


def test_robots_of_the_posterior_differ_by_what_the_samples_leave_open():
    forward = fit_forward_model(REACHER.robot_model, logs(REACHER, "mass=1.2", 200))
    size = forward.physics.size

    def after(world):
        world.place(np.tile(REACHER.source().reset(stream(0)), (4, 1)))
        return world.step(np.full((4, 2), 0.5)).observations

    plain = after(forward.world(4))
    sure = after(forward.drawn(4, 1e-12 * np.eye(size), stream(1)))
    np.testing.assert_allclose(sure, plain, atol=1e-4)
    unsure = after(forward.drawn(4, 0.09 * np.eye(size), stream(1)))
    assert len(np.unique(unsure[:, 6])) == 4
    np.testing.assert_array_equal(unsure, after(forward.drawn(4, 0.09 * np.eye(size), stream(1))))
