"""The extended Kalman filter in a simulator with contacts."""

from dataclasses import replace

import numpy as np
import pytest

from isthmus.core import stream
from isthmus.core.rollout import rollout
from isthmus.estimate.course import course_of
from isthmus.estimate.filter import SensorModel, Shown
from isthmus.estimate.kalman import KalmanFilter, Process
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
