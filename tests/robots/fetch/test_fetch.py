"""The Fetch arm: swings, the source simulator, and the distance that trials are judged by."""

from importlib.util import find_spec

import numpy as np
import pytest

from isthmus.core import History, stream
from isthmus.robots import load_task
from isthmus.robots.fetch.arm import HOME, REACH, SPEED_LIMITS
from isthmus.robots.fetch.swings import PERIOD, STEPS, TEST, TEST_PERIODS, TRAINING, TRAINING_PERIODS, swing
from isthmus.robots.fetch.task import CLOCK, SWING, at_start, courses, distance

pytestmark = pytest.mark.skipif(find_spec("gymnasium_robotics") is None, reason="needs isthmus[fetch]")


@pytest.fixture(scope="module")
def task():
    return load_task("fetch-swing")


@pytest.mark.parametrize("number", TRAINING + TEST)
def test_a_swing_begins_and_ends_at_home_and_keeps_to_the_joints_limits(number):
    times = np.arange(0, STEPS * PERIOD + 1e-9, 0.01)
    path = swing(number)(times)
    np.testing.assert_allclose(path[[0, -1]], [HOME, HOME], atol=1e-6)
    assert (np.abs(path) < REACH).all()
    speeds = np.abs(np.diff(path, axis=0)) / 0.01
    assert (speeds <= SPEED_LIMITS).all()
    assert (speeds / SPEED_LIMITS).max() > 0.5


def test_test_swings_are_not_training_swings():
    assert not set(TRAINING_PERIODS) & set(TEST_PERIODS)
    assert {swing(number).period for number in TEST} <= set(TEST_PERIODS)


def test_episodes_start_on_training_swings_and_trials_on_test_swings(task):
    practised = task.source(32).reset(stream(0, "start"))[:, SWING]
    judged = task.trial.source(len(TEST)).reset(stream(0, "start"))[:, SWING]
    assert set(practised) <= set(TRAINING)
    assert tuple(judged) == TEST


def test_the_policy_in_its_own_simulator_is_no_distance_away(task):
    world, policy = task.trial.source(2), task.policy
    seen = world.reset(stream(0, "start"))
    for _ in range(STEPS):
        seen = world.step(policy(History.of(seen))).observations
        np.testing.assert_allclose(distance(world.fields), 0.0, atol=1e-6)


def test_the_distance_is_a_share_of_the_diameter():
    course, _, diameter = courses()
    qpos = np.zeros((1, 9))
    qpos[0, :7], qpos[0, 8] = course[0, 0] + np.eye(7)[2] * diameter[0] / 10, TRAINING[0]
    np.testing.assert_allclose(distance({"qpos": qpos}), [[0.1]])


def test_the_clock_goes_on_in_a_prediction_and_the_swing_stays(task):
    seen = at_start(np.array([3.0]))
    after = task.source().predict(History.of(seen), task.policy(History.of(seen)))
    assert after[0, CLOCK] == pytest.approx(PERIOD)
    assert after[0, SWING] == 3.0


def test_a_model_of_the_robot_sees_neither_clock_nor_swing(task):
    spec = task.robot_model.spec
    assert not set(spec.robot_dimensions) & {CLOCK, SWING}
    assert spec.commands == "position"
