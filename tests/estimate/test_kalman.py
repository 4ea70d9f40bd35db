"""The extended Kalman filter in a simulator with contacts."""

from dataclasses import replace

import numpy as np
import pytest
from tests.estimate.linear import Linear

from isthmus.core import stream
from isthmus.core.rollout import rollout
from isthmus.estimate.course import course_of
from isthmus.estimate.filter import ESTIMATE, SensorModel, Shown
from isthmus.estimate.kalman import COVARIANCE, KalmanFilter, Process
from isthmus.estimate.sensors import sensed_columns
from isthmus.estimate.stage import FilterStage
from isthmus.gaps import Gap
from isthmus.transfer.source.context import SourceContext


@pytest.fixture(scope="module")
def hopper():
    return SourceContext.of("hopper", None, 0)


@pytest.fixture(scope="module")
def course(hopper):
    return course_of(hopper.policy, hopper.task.source(4), stream(0, "course"))


def errors_of(hopper, gap, one):
    """How far observations are from the truth (n, obs), root mean square, when `one` estimates them."""
    task = replace(hopper.task, estimator=lambda n: FilterStage(lambda: one, n, 3))
    world = task.target(Gap.parse(gap), 4)
    errors = []
    for moment in rollout(world, hopper.policy, world.reset(stream(0, "start")), steps=60):
        true = np.concatenate((world.fields["qpos"], world.fields["qvel"]), axis=1)
        errors.append(moment.step.observations - true)
    return np.sqrt(np.square(np.stack(errors)[10:]).mean(axis=(0, 1)))


def kalman(hopper, course, sensed, noise):
    noises = np.full(len(sensed), noise)
    process = Process(0.01 * course.scale, course.start, course.start_covariance)
    return KalmanFilter(hopper.task.source(), SensorModel(sensed, noises, np.zeros(len(sensed))), process)


def test_velocities_follow_from_positions(hopper, course):
    sensed = sensed_columns(hopper.task.robot_model, ("positions",))
    found = errors_of(hopper, "none", kalman(hopper, course, sensed, 1e-4))
    assert (found[6:] < 0.2 * course.scale[6:]).all()


def test_noise_is_filtered_out_of_positions(hopper, course):
    everything = np.arange(12)
    plain = errors_of(hopper, "sensor-noise=0.01", Shown(everything, course.start))
    found = errors_of(hopper, "sensor-noise=0.01", kalman(hopper, course, everything, 0.01))
    assert (found[:6] < 0.7 * plain[:6]).all()


def test_nothing_is_less_sure_than_along_the_whole_course():
    process = Process(np.ones(2), np.zeros(2), np.eye(2), most=np.array([2.0, 3.0]))
    wide = np.array([[[1e20, 0.5e10, 1e9], [0.5e10, 1.0, 0.2], [1e9, 0.2, 7.0]]])
    found = process.bounded(wide)
    assert np.diagonal(found[0]) == pytest.approx([4.0, 1.0, 7.0])  # the third is an offset of a sensor
    assert found[0, 0, 1] == pytest.approx(0.5 * 2.0)  # a correlation stays as it was
    assert found[0, 1, 2] == wide[0, 1, 2]
    assert process.bounded(found) is found
    assert replace(process, most=None).bounded(wide) is wide


def test_a_simulator_that_magnifies_every_error_does_not_make_the_filter_diverge():
    class Steep(Linear):
        def predict(self, history, actions):
            return 500.0 * history.current

    sensors = SensorModel(np.array([0]), np.array([1e-6]), np.zeros(1))
    one = KalmanFilter(Steep(), sensors, Process(np.full(2, 1e-3), np.zeros(2), np.eye(2), most=np.ones(2)))
    state, rng = one.initial_state(1), np.random.default_rng(0)
    for _ in range(60):
        _, state = one.update(state, 0.1 * rng.standard_normal((1, 2)), np.zeros((1, 1)))
        assert (np.diagonal(state[COVARIANCE][0]) <= 1.0 + 1e-9).all()
    assert abs(state[ESTIMATE][0, 0]) < 1.0


def test_a_value_that_does_not_arrive_is_estimated(hopper, course):
    one = kalman(hopper, course, np.arange(12), 1e-3)
    world = hopper.task.source(1)
    start = world.reset(stream(0, "start"))
    _, state = one.update(one.initial_state(1), start, np.zeros((1, 3)))
    step = world.step(np.zeros((1, 3)))
    shown = step.observations.copy()
    shown[0, 3] = np.nan
    estimate, _ = one.update(state, shown, step.applied)
    assert estimate == pytest.approx(step.observations, abs=0.01)
