"""The learned estimator, and what every estimator keeps to."""

from itertools import pairwise

import numpy as np
import pytest

from isthmus.core import Mlp, Problem, Trajectory, stream
from isthmus.core.rollout import rollout
from isthmus.estimate.choice import surprise
from isthmus.estimate.course import course_of
from isthmus.estimate.ensemble import EnsembleFilter
from isthmus.estimate.estimation import Estimation
from isthmus.estimate.filter import SensorModel, Shown
from isthmus.estimate.frame import Frame
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.learned import WINDOW, LearnedFilter
from isthmus.estimate.recorded import Recording
from isthmus.estimate.sensors import sensed_columns
from isthmus.estimate.training import Training, trained_network
from isthmus.transfer.source.context import SourceContext

QUICK = Training(worlds=24, steps=60, rounds=2, epochs=15, hidden=(64,), batch=64)


@pytest.fixture(scope="module")
def hopper():
    return SourceContext.of("hopper", None, 0)


@pytest.fixture(scope="module")
def course(hopper):
    return course_of(hopper.policy, hopper.task.source(4), stream(0, "course"))


@pytest.fixture(scope="module")
def positions(hopper):
    return sensed_columns(hopper.task.robot_model, ("positions",))


@pytest.fixture(scope="module")
def network(hopper, course, positions):
    return trained_network(hopper.policy, hopper.task.robot_model, positions, course, 0, QUICK)


@pytest.fixture(scope="module")
def run(hopper):
    """A run of the policy in the source."""
    world = hopper.task.source(1)
    start = world.reset(stream(0, "start"))
    moments = list(rollout(world, hopper.policy, start, steps=60))
    seen = np.concatenate([start, *(moment.step.observations for moment in moments)])
    applied = np.concatenate([moment.step.applied for moment in moments])
    return Trajectory(seen, applied, applied, applied, seen[1:])


def some_network(inputs, outputs):
    rng, sizes = np.random.default_rng(0), (inputs, 16, outputs)
    weights = tuple(0.1 * rng.standard_normal(shape).astype(np.float32) for shape in pairwise(sizes))
    biases = tuple(np.zeros(size, np.float32) for size in sizes[1:])
    return Mlp(weights, biases, "relu", np.zeros(inputs), np.ones(inputs), np.zeros(outputs), np.ones(outputs))


@pytest.fixture(params=["shown", "kalman", "ensemble", "learned", "late"])
def estimator(request, hopper, course, positions):
    m = len(positions)
    if request.param == "shown":
        return Shown(positions, course.start)
    if request.param in ("kalman", "ensemble"):
        process = Process(0.01 * course.scale, course.start, course.start_covariance)
        one = KalmanFilter(hopper.task.source(), SensorModel(positions, np.full(m, 1e-3), np.zeros(m)), process)
        return one if request.param == "kalman" else EnsembleFilter.of(one)
    inputs = WINDOW * m + (WINDOW - 1) * 3
    frame = Frame.of(hopper.task.robot_model, positions)
    return LearnedFilter(some_network(inputs, 12), frame, course.start, 3, 2 if request.param == "late" else 0)


def estimates_of(estimator, sensed, applied):
    """Of n robots (n, T+1, obs) that are estimated side by side."""
    state, found = estimator.initial_state(len(sensed)), []
    for t in range(sensed.shape[1]):
        estimate, state = estimator.update(state, sensed[:, t], applied[:, max(t - 1, 0)])
        found.append(estimate)
    return np.stack(found, axis=1)


def test_an_estimator_is_pure_and_does_not_mix_robots(estimator, run):
    steps = 12
    sensed = np.stack((run.observations[: steps + 1], run.observations[5 : steps + 6]))
    applied = np.stack((run.applied[:steps], run.applied[5 : steps + 5]))
    both = estimates_of(estimator, sensed, applied)
    assert both.shape == (2, steps + 1, 12)
    for robot in range(2):
        alone = estimates_of(estimator, sensed[robot : robot + 1], applied[robot : robot + 1])
        assert both[robot] == pytest.approx(alone[0], rel=1e-4, abs=1e-5)


def test_an_estimator_looks_at_nothing_that_is_not_sensed_and_does_without_a_value(estimator, run):
    sensed, applied = run.observations[None, :9].copy(), run.applied[None, :8]
    sensed[:, 4, 2] = np.nan
    hidden = sensed.copy()
    hidden[:, :, 6:] = 1e6
    found = estimates_of(estimator, hidden, applied)
    assert np.isfinite(found).all()
    assert np.array_equal(found, estimates_of(estimator, sensed, applied))


def test_velocities_are_learned_from_positions(network, hopper, positions, course, run):
    one = LearnedFilter(network, Frame.of(hopper.task.robot_model, positions), course.start, 3)
    found = estimates_of(one, run.observations[None], run.applied[None])[0]
    off = np.sqrt(np.square(found - run.observations)[WINDOW:].mean(axis=0))
    assert (off[6:] < 0.5 * run.observations[:, 6:].std(axis=0)).all()


def test_better_estimates_foresee_the_sensors_better(hopper, course, positions, run):
    recording, rng = Recording.of([run]), np.random.default_rng(0)
    worse = recording.sensed + course.scale * rng.standard_normal(recording.sensed.shape)
    true, off = (
        surprise(one, recording, hopper.task.source(), positions, course.scale, 0) for one in (recording.sensed, worse)
    )
    assert true < off - 1


def test_a_network_is_kept_in_the_file_of_the_estimator(tmp_path, hopper, course, positions, network):
    body = hopper.task.robot_model
    one = Estimation("learned", body, positions, course, lambda: network)
    assert one.filter.network is network
    one.save(tmp_path / "one.npz")
    other = some_network(network.input_size, network.output_size)
    again = Estimation("learned", body, positions, course, lambda: other)
    seen = hopper.task.source(1).reset(stream(0, "start"))
    before = again.stage(1).begin(seen, slice(None))
    again.restore(tmp_path / "one.npz")
    assert np.array_equal(again.stage(1).begin(seen, slice(None)), one.stage(1).begin(seen, slice(None)))
    assert not np.array_equal(before, one.stage(1).begin(seen, slice(None)))


def test_a_file_of_other_sensors_is_refused(tmp_path, hopper, course, positions, network):
    body = hopper.task.robot_model
    one = Estimation("learned", body, positions, course, lambda: network)
    assert one.filter.network is network
    one.save(tmp_path / "one.npz")
    fewer = positions[:-1]
    other = some_network(WINDOW * len(fewer) + (WINDOW - 1) * 3, 12)
    with pytest.raises(Problem, match="is not an estimator file of this robot"):
        Estimation("learned", body, fewer, course, lambda: other).restore(tmp_path / "one.npz")


def test_an_unknown_estimator_is_refused_with_the_names_there_are(hopper, course, positions):
    with pytest.raises(Problem, match=r"unknown estimator 'learnt': choose from .*did you mean 'learned'"):
        Estimation("learnt", hopper.task.robot_model, positions, course)
