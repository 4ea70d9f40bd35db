"""Sensors that are miscalibrated, turned, coarse, unreliable or missing."""

import mujoco
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.robots import load_task

STEPS = 25


@pytest.fixture(scope="module")
def hopper():
    return load_task("hopper")


@pytest.fixture(scope="module")
def ant():
    return load_task("ant")


@pytest.fixture(scope="module")
def anymal():
    return load_task("anymal")


def watched(task, gap, *, n=30, seed=0):
    """What is seen and what is true (steps + 1, n, obs) under the same random commands."""
    world, truth, rng = task.target(Gap.parse(gap), n), task.source(n), np.random.default_rng(5)
    seen, true = [world.reset(np.random.default_rng(seed))], [truth.reset(np.random.default_rng(seed))]
    low, high = world.spec.action_low, world.spec.action_high
    for _ in range(STEPS):
        commands = rng.uniform(low, high, (n, world.spec.action_size))
        seen.append(world.step(commands).observations)
        true.append(truth.step(commands).observations)
    return np.stack(seen), np.stack(true)


def rotation(turn):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, turn)
    return matrix.reshape(3, 3)


def about(axis, degrees):
    turn = np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], np.deg2rad(degrees))
    return turn


def test_a_scale_error_multiplies_each_observation_by_a_factor_of_its_own_for_an_episode(hopper):
    seen, true = watched(hopper, "sensor-scale=0.07", n=200)
    moving = np.abs(true) > 1e-6
    ratio = np.where(moving, seen / np.where(moving, true, 1.0), np.nan)
    np.testing.assert_allclose(ratio[moving], np.broadcast_to(np.nanmedian(ratio, axis=0), ratio.shape)[moving])
    errors = np.nanmedian(ratio, axis=0) - 1
    assert errors.std() == pytest.approx(0.07, rel=0.05)
    assert abs(errors.mean()) < 0.005
    again, _ = watched(hopper, "sensor-scale=0.07", n=200, seed=1)
    assert not np.allclose(again[0], seen[0], atol=1e-4)


@pytest.mark.parametrize(("axis", "name"), [*enumerate(("imu-roll", "imu-pitch", "imu-yaw"))])
@pytest.mark.parametrize("task_name", ["ant", "anymal"])
def test_a_turned_imu_shows_orientation_and_spin_of_its_own_frame(task_name, axis, name):
    """Ant has z, quaternion, 8 joints, 6 base velocities; ANYmal z, quaternion, 12 joints, 2 own, 6 base velocities."""
    task = load_task(task_name)
    turn, spin = slice(1, 5), slice(16, 19) if task_name == "ant" else slice(22, 25)
    seen, true = watched(task, f"{name}=17", n=4)
    mounted = rotation(about(axis, 17))  # from the sensor's frame to the base's
    for wrong, right in zip(seen.reshape(-1, seen.shape[2]), true.reshape(-1, seen.shape[2]), strict=True):
        np.testing.assert_allclose(rotation(wrong[turn]), rotation(right[turn]) @ mounted, atol=1e-9)
        np.testing.assert_allclose(wrong[spin], mounted.T @ right[spin], atol=1e-9)
    others = np.delete(np.arange(seen.shape[2]), [*range(1, 5), *range(spin.start, spin.stop)])
    np.testing.assert_array_equal(seen[..., others], true[..., others])


def test_turns_of_an_imu_follow_each_other_by_yaw_pitch_and_roll(ant):
    seen, true = watched(ant, "imu-roll=10,imu-pitch=20,imu-yaw=-35", n=2)
    mounted = rotation(about(2, -35)) @ rotation(about(1, 20)) @ rotation(about(0, 10))
    np.testing.assert_allclose(rotation(seen[3, 1, 1:5]), rotation(true[3, 1, 1:5]) @ mounted, atol=1e-9)


@pytest.mark.parametrize("name", ["reacher", "hopper", "fetch-swing"])
def test_a_robot_without_a_free_base_has_no_imu_to_turn(name):
    with pytest.raises(Problem, match="gap 'imu-pitch' does not fit this robot: it has no IMU, since its base is not"):
        load_task(name).target(Gap.parse("imu-pitch=5"))


def test_quantisation_rounds_to_the_nearest_multiple(hopper):
    seen, true = watched(hopper, "sensor-quantisation=0.03")
    np.testing.assert_allclose(seen / 0.03, np.round(seen / 0.03), atol=1e-9)
    assert np.abs(seen - true).max() <= 0.015 + 1e-12
    assert (seen - true).std() == pytest.approx(0.03 / np.sqrt(12), rel=0.1)


def test_a_lost_observation_is_the_last_one_again(reacher):
    seen, true = watched(reacher, "sensor-dropout=0.3", n=200)
    np.testing.assert_array_equal(seen[0], true[0])
    arrived = (seen[1:] == true[1:]).all(axis=2)
    held = (seen[1:] == seen[:-1]).all(axis=2)
    assert (arrived | held).all()
    assert held.mean() == pytest.approx(0.3, abs=0.02)
    pairs = (held[1:] & held[:-1]).mean()
    assert pairs == pytest.approx(0.09, abs=0.02)  # independent from step to step


def test_a_clock_and_a_command_are_neither_rounded_nor_lost_nor_scaled(anymal):
    seen, true = watched(anymal, "sensor-dropout=0.5,sensor-quantisation=0.1,sensor-scale=0.2", n=3)
    np.testing.assert_array_equal(seen[..., 17:19], true[..., 17:19])


def test_hidden_velocities_are_seen_as_zero_and_all_else_as_it_is(hopper, anymal):
    seen, true = watched(hopper, "hide=velocities")
    np.testing.assert_array_equal(seen[..., 6:], 0)
    np.testing.assert_array_equal(seen[..., :6], true[..., :6])
    seen, true = watched(anymal, "hide=velocities", n=2)
    np.testing.assert_array_equal(seen[..., 19:], 0)
    np.testing.assert_array_equal(seen[..., :19], true[..., :19])


def test_a_hidden_base_leaves_joints_and_imu(ant):
    seen, true = watched(ant, "hide=base", n=2)
    hidden = [0, 13, 14, 15]
    np.testing.assert_array_equal(seen[..., hidden], np.broadcast_to([0.75, 0, 0, 0], seen[..., hidden].shape))
    others = np.delete(np.arange(27), hidden)
    np.testing.assert_array_equal(seen[..., others], true[..., others])


def test_what_a_robot_does_not_have_cannot_be_hidden(reacher):
    with pytest.raises(Problem, match="gap 'hide' does not fit this robot: its observation shows no base"):
        reacher.target(Gap.parse("hide=base"))


def test_what_is_hidden_is_a_word():
    assert str(Gap.parse("hide=velocities")) == "hide=velocities"
    with pytest.raises(Problem, match="gap 'hide=legs' needs a word: nothing, base or velocities, as in hide=velocit"):
        Gap.parse("hide=legs")


def test_rounding_comes_after_noise_and_hiding_last(hopper):
    seen, _ = watched(hopper, "sensor-noise=0.1,sensor-quantisation=0.05,sensor-dropout=0.2,hide=velocities")
    np.testing.assert_allclose(seen / 0.05, np.round(seen / 0.05), atol=1e-9)
    np.testing.assert_array_equal(seen[..., 6:], 0)
