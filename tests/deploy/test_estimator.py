"""Bundles of runs with an estimator: it acts in them as it did in the run."""

from dataclasses import replace

import numpy as np
import pytest
from tests.deploy.conftest import commands_of, course, finished

from isthmus.core import Mlp, Problem, stream
from isthmus.deploy.export import export_bundle
from isthmus.deploy.load import ESTIMATOR, load_policy
from isthmus.deploy.manifest import Bundle
from isthmus.estimate.course import course_of
from isthmus.estimate.estimation import KIND, Estimation
from isthmus.estimate.frame import Frame
from isthmus.estimate.learned import WINDOW
from isthmus.estimate.sensors import sensed_columns
from isthmus.estimate.stage import FilterStage
from isthmus.io.files import pack_arrays

LEARNED = {"learned_from": 500, "exact": False, "used": True, "nll": 0.0, "delay": 1}


def estimation_of(run, kind, words=()):
    """An estimation that has found noise, offsets and a delay, made up."""
    body = run.task.robot_model
    sensed, m = sensed_columns(body, words), len(sensed_columns(body, words))
    found = course_of(run.source.policy, run.task.source(4), stream(0, "course"))
    inputs = WINDOW * len(Frame.of(body, sensed).looked_at) + (WINDOW - 1) * body.spec.action_size
    size, rng = body.spec.observation_size, np.random.default_rng(0)
    network = Mlp(
        ((0.01 * rng.standard_normal((inputs, size))).astype(np.float32),),
        (np.zeros(size, np.float32),),
        "relu",
        np.zeros(inputs),
        np.ones(inputs),
        np.zeros(size),
        np.ones(size),
    )
    one = Estimation(kind, body, sensed, found, lambda: network)
    numbers = {"noise": 0.1 * found.scale[sensed], "bias": np.where(np.arange(m) % 2, 0.0, 0.01)}
    z = 0.1 * rng.standard_normal(run.source.physics.size)
    kept = {"network_" + name: array for name, array in network.arrays().items()} if kind == "learned" else {}
    if kind != "none":
        one.take(numbers | {"process": 0.1 * found.scale, "z": z} | kept, LEARNED | {"chosen": kind})
    return one


def estimated(kind, words=(), case="residual-action", task="reacher"):
    run = finished(task, case, "tilt=60")
    estimation = estimation_of(run, kind, words)
    return replace(run, policy=estimation.behind(run.policy, run.method.history), estimation=estimation)


CASES = [("kalman", ()), ("ensemble", ()), ("learned", ()), ("none", ("positions",)), ("kalman", ("positions",))]


@pytest.mark.parametrize(("kind", "words"), CASES)
def test_a_bundle_acts_as_the_run_did_behind_its_estimator(tmp_path, kind, words):
    run = estimated(kind, words)
    manifest = export_bundle(run, tmp_path / "bundle")
    assert manifest.robot.estimator == ("shown" if kind == "none" else kind)
    assert manifest.adapter.fused
    seen, applied = course(run)
    policy, found = load_policy(tmp_path / "bundle"), []
    for t, observation in enumerate(seen):
        found.append(policy.act(observation, applied[t - 1] if t else None))
    np.testing.assert_allclose(np.array(found), _in_the_run(run, seen, applied), atol=1e-9)


def _in_the_run(run, seen, applied):
    """Commands on what the Estimator stage of the run's target makes of the sensors."""
    stage = FilterStage(lambda: run.estimation.filter, 1, run.source.spec.action_size)
    shown = [stage.begin(seen[:1], slice(None))[0]]
    shown += [stage(seen[t : t + 1], applied[t - 1 : t], slice(None))[0] for t in range(1, len(seen))]
    return commands_of(replace(run, policy=run.method.policy()), np.array(shown), applied)


def test_a_value_that_does_not_arrive_is_estimated_in_a_bundle(tmp_path):
    export_bundle(estimated("kalman"), tmp_path / "bundle")
    policy, (seen, _) = load_policy(tmp_path / "bundle"), course(estimated("kalman"))
    policy.act(seen[0])
    lost = seen[1].copy()
    lost[0] = np.nan
    assert np.isfinite(policy.act(lost)).all()
    lost[0] = np.inf
    with pytest.raises(Problem, match="not all finite"):
        policy.act(lost)


@pytest.mark.parametrize(
    "damage",
    [
        {"sensed": np.array([0, 99])},
        {"start": np.zeros(3)},
        {"scale": np.full(11, np.nan)},
        {"z": np.zeros(2)},
        {"noise": np.full(11, -1.0)},
    ],
)
def test_an_estimator_that_does_not_fit_the_robot_is_refused(tmp_path, damage):
    export_bundle(estimated("kalman"), tmp_path / "bundle")
    bundle = Bundle(tmp_path / "bundle")
    arrays, about = bundle.arrays(ESTIMATOR, KIND)
    content = pack_arrays(arrays | damage, about)
    bundle.read = lambda name, read=bundle.read: content if name == ESTIMATOR else read(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("isthmus.deploy.load.Bundle", lambda _path: bundle)
        with pytest.raises(Problem, match="do not fit together"):
            load_policy(tmp_path / "bundle")
