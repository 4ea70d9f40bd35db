"""The ensemble Kalman filter on a system whose best estimate is known."""

import numpy as np
import pytest
from tests.estimate.linear import COURSE, Linear, recorded

from isthmus.estimate.ensemble import MEMBERS, EnsembleFilter
from isthmus.estimate.filter import SensorModel
from isthmus.estimate.kalman import BIAS, KalmanFilter, Process
from isthmus.estimate.recorded import Recording


def kalman(noise=0.05, bias=0.0, process=0.02, sensed=(0, 1)):
    m = len(sensed)
    sensors = SensorModel(np.array(sensed), np.full(m, noise), np.full(m, bias))
    return KalmanFilter(Linear(), sensors, Process(np.full(2, process), COURSE.start, COURSE.start_covariance))


def off(estimates, true):
    return np.sqrt(np.square(estimates - true)[:, 8:].mean())


@pytest.mark.parametrize("sensed", [(0, 1), (0,)])
def test_it_estimates_nearly_as_well_as_the_best_filter(sensed):
    runs, true = recorded(np.random.default_rng(0), noise=0.05, process=0.02)
    recording, best = Recording.of(runs), kalman(sensed=sensed)
    many = EnsembleFilter.of(best)
    assert off(recording.estimates(many), true) < 1.15 * off(recording.estimates(best), true)
    position = np.s_[..., :1]
    assert off(recording.estimates(many)[position], true[position]) < 0.8 * off(
        recording.sensed[position], true[position]
    )


def test_an_offset_is_found_as_a_kalman_filter_finds_it():
    runs, _ = recorded(np.random.default_rng(1), noise=0.01, bias=0.1, runs=20)
    recording, best = Recording.of(runs), kalman(noise=0.01, bias=0.1, process=0.005)
    many = EnsembleFilter.of(best)
    states = [one.initial_state(20) for one in (best, many)]
    for t in range(recording.sensed.shape[1]):
        for i, one in enumerate((best, many)):
            _, states[i] = one.update(states[i], recording.sensed[:, t], recording.applied[:, max(t - 1, 0)])
    found = states[1][MEMBERS].mean(axis=1)[:, 2:]
    assert np.corrcoef(found[:, 1], states[0][BIAS][:, 1])[0, 1] > 0.8


def test_the_same_step_is_the_same_again_and_members_stay_apart():
    runs, _ = recorded(np.random.default_rng(0), noise=0.05)
    recording, one = Recording.of(runs), EnsembleFilter.of(kalman())
    assert np.array_equal(recording.estimates(one), recording.estimates(EnsembleFilter.of(kalman())))
    state = one.initial_state(len(runs))
    for t in range(30):
        _, state = one.update(state, recording.sensed[:, t], recording.applied[:, max(t - 1, 0)])
    spread = state[MEMBERS].std(axis=1)
    assert (spread > 0.005).all()
    assert (spread < 0.1).all()


def test_a_measurement_far_beyond_what_was_expected_is_believed():
    one = EnsembleFilter.of(kalman(noise=0.01, process=0.001))
    _, state = one.update(one.initial_state(1), np.zeros((1, 2)), np.zeros((1, 1)))
    far = np.array([[3.0, 0.0]])
    estimate, _ = one.update(state, far, np.zeros((1, 1)))
    assert estimate[0, 0] == pytest.approx(3.0, abs=0.5)
