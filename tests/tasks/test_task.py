import numpy as np
import pytest

from isthmus.gaps import Gap
from isthmus.robots import TASKS, load_task
from isthmus.sim import MujocoWorld, SealedRobot


@pytest.mark.parametrize("name", sorted(TASKS))
def test_source_and_target_without_a_gap_are_the_same_world(name):
    task = load_task(name)
    source, target = task.source(2), task.target(Gap(), 2)
    first = source.reset(np.random.default_rng(0))
    np.testing.assert_array_equal(target.reset(np.random.default_rng(0)), first)
    rng = np.random.default_rng(1)
    for _ in range(5):
        commands = rng.uniform(-1, 1, (2, source.spec.action_size))
        np.testing.assert_array_equal(target.step(commands).observations, source.step(commands).observations)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_scores_and_rewards_are_one_number_a_world(name):
    task = load_task(name)
    world = task.source(3)
    world.reset(np.random.default_rng(0))
    before = task.measure(world.fields).copy()
    commands = np.full((3, world.spec.action_size), 0.5)
    applied = world.step(commands).applied
    after = task.measure(world.fields).copy()
    score, reward = task.score(before, applied, after), task.reward(before, applied, after)
    assert score.shape == reward.shape == (3,)
    if name in ("anymal", "leg-squat"):
        return  # they are paid for more than they are scored by
    if name != "fetch-swing":  # which nobody pays
        assert (reward < score).all()  # the difference is the torque penalty
    np.testing.assert_array_equal(task.reward(before, 0 * applied, after), score)


def test_a_robot_is_the_target_in_a_box(reacher):
    gap = Gap.parse("tilt=30")
    robot, target = reacher.robot(gap, 2), reacher.target(gap, 2)
    assert isinstance(robot, SealedRobot)
    assert isinstance(target, MujocoWorld)
    np.testing.assert_array_equal(robot.reset(np.random.default_rng(0)), target.reset(np.random.default_rng(0)))
    commands = np.full((2, 2), 0.3)
    np.testing.assert_array_equal(robot.step(commands).observations, target.step(commands).observations)
