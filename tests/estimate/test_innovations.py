"""Noise, offsets and delay of sensors from innovations, where the truth is known to the test alone."""

from functools import cache

import numpy as np
import pytest
from tests.estimate.linear import COURSE, Linear, recorded

from isthmus.estimate.filter import SensorModel
from isthmus.estimate.innovations import first_explanation, settled, with_offsets
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.recorded import Recording
from isthmus.estimate.smoother import smoothed

START = COURSE.start, COURSE.start_covariance


@cache
def explained(sensed=(0, 1), **truth):
    runs, true = recorded(np.random.default_rng(0), **truth)
    recording = Recording.of(runs)
    return first_explanation(recording, Linear(), np.array(sensed), START, COURSE.scale), recording, true


def test_noise_is_found_as_large_as_it_is():
    found, _, _ = explained(noise=0.05)
    assert found.sensors.noise == pytest.approx([0.05, 0.05], rel=0.25)
    assert found.sensors.delay == 0


def test_sensors_without_noise_are_exact():
    found, _, _ = explained()
    assert found.sensors.is_exact(2, least=0.005 * COURSE.scale)


def test_a_push_of_the_robot_is_not_taken_for_noise():
    found, _, _ = explained(process=0.03)
    assert (found.sensors.noise < 0.01).all()
    assert found.filter.process.noise == pytest.approx([0.03, 0.03], rel=0.3)


def test_a_delay_is_counted_in_steps():
    found, _, _ = explained(noise=0.02, delay=2)
    assert found.sensors.delay == 2


def test_an_offset_of_each_episode_is_found_beside_the_noise():
    found, recording, _ = explained(noise=0.01, bias=0.1)
    biased = with_offsets(found, recording, COURSE.scale)
    assert biased.nll < found.nll
    assert biased.sensors.noise == pytest.approx([0.01, 0.01], rel=0.4)
    assert biased.sensors.bias.max() > 0.03


def test_sensors_without_an_offset_get_none():
    found, recording, _ = explained(noise=0.05)
    assert with_offsets(found, recording, COURSE.scale) is found


def test_what_is_not_sensed_is_estimated():
    found, recording, true = explained(sensed=(0,), noise=0.01)
    estimates = recording.estimates(found.filter)
    assert np.sqrt(np.square(estimates - true)[:, 10:, 1].mean()) < 0.3 * COURSE.scale[1]


def test_smoothed_estimates_are_nearer_to_the_truth_than_filtered_ones_and_those_than_the_sensors():
    found, recording, true = explained(noise=0.05)
    sensors, filtered, smooth = (
        np.sqrt(np.square(one - true)[:, 5:-5].mean())
        for one in (recording.sensed, recording.estimates(found.filter), smoothed(found.filter, recording))
    )
    assert smooth < filtered < 0.8 * sensors


class Stiff(Linear):
    """Moves its velocity by a thousand times its position: a foot in the ground."""

    def predict(self, history, actions):
        return history.current @ np.array([[1.0, 1.0], [-1e3, 1.0]]).T


def test_a_filter_that_rounding_has_left_without_a_covariance_explains_nothing():
    runs, _ = recorded(np.random.default_rng(0), noise=0.05, runs=2)
    sensors = SensorModel(np.array([1]), np.full(1, 1e-6), np.zeros(1))
    begin = KalmanFilter(Stiff(), sensors, Process(np.zeros(2), *START))
    assert settled(begin, Recording.of(runs), COURSE.scale).nll == np.inf
