"""A filter in the Estimator stage."""

import numpy as np

from isthmus.core import Trajectory
from isthmus.estimate.filter import Shown
from isthmus.estimate.stage import FilterStage

START = np.array([1.0, 2.0])


def test_what_is_not_sensed_is_shown_as_at_the_start():
    stage = FilterStage(lambda: Shown(np.array([0]), START), 2, 1)
    shown = stage.begin(np.array([[5.0, 6.0], [7.0, np.nan]]), slice(None))
    assert shown.tolist() == [[5.0, 2.0], [7.0, 2.0]]


def test_what_the_sensors_showed_is_kept_for_each_robot():
    stage = FilterStage(lambda: Shown(np.array([0]), START), 2, 1)
    rng = np.random.default_rng(0)
    first, second, third = (rng.standard_normal((2, 2)) for _ in range(3))
    stage.begin(first, slice(None))
    stage(second, np.zeros((2, 1)), slice(None))
    stage(third[1:], np.zeros((1, 1)), np.array([False, True]))
    actions = np.zeros((2, 1))
    short = Trajectory(np.zeros((2, 2)), actions[:1], actions[:1], actions[:1], np.zeros((1, 2)))
    long = Trajectory(np.zeros((3, 2)), actions, actions, actions, np.zeros((2, 2)))
    [[one], [other]] = stage.sensed([[short], [long]])
    assert np.array_equal(one.observations, np.stack((first[0], second[0])))
    assert np.array_equal(other.observations, np.stack((first[1], second[1], third[1])))


def test_another_filter_takes_over_only_when_all_robots_begin():
    current = [Shown(np.array([0]), START)]
    stage = FilterStage(lambda: current[0], 2, 1)
    shown = np.array([[5.0, 6.0], [7.0, 8.0]])
    stage.begin(shown, slice(None))
    current[0] = Shown(np.array([1]), START)
    assert stage(shown, np.zeros((2, 1)), slice(None))[0].tolist() == [5.0, 2.0]
    assert stage.begin(shown[:1], np.array([True, False]))[0].tolist() == [5.0, 2.0]
    assert stage.begin(shown, slice(None))[0].tolist() == [1.0, 6.0]
