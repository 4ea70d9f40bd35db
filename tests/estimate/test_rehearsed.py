"""What a policy is shown in a rehearsal."""

import mujoco
import numpy as np
from tests.estimate.linear import PUSH, SPEC, Linear

from isthmus.core import stream
from isthmus.estimate.filter import SensorModel, Shown
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.rehearsed import Sensing

START = np.zeros(3)


def sensing(sensors, process):
    shown = Shown(sensors.sensed, START)
    kalman = KalmanFilter(Linear(), sensors, Process(process, START, np.eye(len(START))))
    return Sensing(kalman, mujoco.MjModel.from_xml_string("<mujoco/>"), shown, shown)


def stage(noise, bias, n=500):
    sensors = SensorModel(np.array([0, 2]), np.array(noise), np.array(bias))
    return sensing(sensors, np.zeros(3)).stage(n, stream(0, "sensors"))


def test_the_policy_is_shown_sensors_as_noisy_as_they_were_found():
    one, true = stage([0.1, 0.0], [0.0, 0.0]), np.ones((500, 3))
    seen = one.begin(true, slice(None))
    assert abs(seen[:, 0].std() - 0.1) < 0.01
    assert (seen[:, 1:] == [0.0, 1.0]).all()


def test_an_offset_stays_for_an_episode():
    one, true = stage([0.0, 0.0], [0.0, 0.5]), np.ones((500, 3))
    first = one.begin(true, slice(None))
    assert np.array_equal(one(true, np.zeros((500, 1)), slice(None)), first)
    assert abs(first[:, 2].std() - 0.5) < 0.05
    some = np.arange(500) < 10
    again = one.begin(true[some], some)
    assert not np.array_equal(again, first[some])
    assert np.array_equal(one(true, np.zeros((500, 1)), slice(None))[~some], first[~some])


def test_what_is_true_stays_as_it_is():
    one, true = stage([0.1, 0.1], [0.1, 0.1]), np.ones((500, 3))
    one.begin(true, slice(None))
    assert (true == 1).all()


def test_a_disturbance_is_no_larger_than_the_simulators_error_by_its_effect():
    sensors = SensorModel(np.array([0]), np.zeros(1), np.zeros(1))
    process = 0.2 * SPEC.half_range[0] * PUSH[:, 0]
    rng = np.random.default_rng(0)
    states, actions = rng.standard_normal((30, 2)), rng.uniform(-5, 5, (30, 1))
    for noise in (process, process * [1, 3], process * [4, 1]):
        found = sensing(sensors, noise).largest_disturbance(states, actions)
        np.testing.assert_allclose(found, [0.2], rtol=1e-6)
