"""What lies between what is true and what is seen of it."""

import dataclasses

import numpy as np
import pytest

from isthmus.gaps import Gap
from isthmus.sim import MujocoWorld

STEPS = 30


def watched(task, gap, rng, *, n=40, seed=0):
    """What is seen and what is true (steps + 1, n, obs) under the same random commands."""
    world, truth = task.target(Gap.parse(gap), n), task.source(n)
    seen, true = [world.reset(np.random.default_rng(seed))], [truth.reset(np.random.default_rng(seed))]
    for _ in range(STEPS):
        commands = rng.uniform(-1, 1, (n, world.spec.action_size))
        seen.append(world.step(commands).observations)
        true.append(truth.step(commands).observations)
        np.testing.assert_array_equal(world.fields["qpos"], truth.fields["qpos"])  # what is true stays true
        np.testing.assert_array_equal(task.measure(world.fields), task.measure(truth.fields))
    return np.stack(seen), np.stack(true)


def test_noise_has_its_std_in_the_units_of_each_observation_and_is_independent(reacher, rng):
    seen, true = watched(reacher, "sensor-noise=0.02", rng)
    noise = seen - true
    np.testing.assert_allclose(noise.std(axis=(0, 1)), 0.02, rtol=0.1)
    assert abs(noise.mean()) < 0.001
    assert abs((noise[1:] * noise[:-1]).mean() / noise.var()) < 0.03


def test_a_bias_is_constant_for_an_episode_and_another_in_the_next(reacher, rng):
    offsets = []
    for seed in (0, 1):
        seen, true = watched(reacher, "sensor-bias=0.05", rng, seed=seed)
        bias = seen - true
        np.testing.assert_allclose(bias, np.broadcast_to(bias[0], bias.shape), atol=1e-12)
        assert bias[0].std() == pytest.approx(0.05, rel=0.15)
        offsets.append(bias[0])
    assert (np.abs(offsets[0] - offsets[1]) > 1e-6).all()


@pytest.mark.parametrize("delay", [1, 4])
def test_a_delay_shows_what_was_true_some_steps_ago(reacher, rng, delay):
    seen, true = watched(reacher, f"sensor-delay={delay}", rng)
    np.testing.assert_array_equal(seen[delay:], true[:-delay])
    np.testing.assert_array_equal(seen[:delay], np.broadcast_to(true[0], seen[:delay].shape))


def test_late_noisy_and_off_add_up(reacher, rng):
    seen, true = watched(reacher, "sensor-delay=2,sensor-bias=0.05,sensor-noise=0.02", rng, n=300)
    error = seen[2:] - true[:-2]
    bias = error.mean(axis=0)
    assert bias.std() == pytest.approx(0.05, rel=0.1)
    assert (error - bias).std() == pytest.approx(0.02, rel=0.1)


def test_a_partial_reset_leaves_the_others_their_bias(reacher, rng):
    world = reacher.target(Gap.parse("sensor-bias=0.05"), 4)
    true = np.empty((4, 11))

    def bias():
        reacher.robot_model.observe(world.fields, true)
        return world.step(np.zeros((4, 2)), np.zeros(4, np.bool_)).observations - true

    world.reset(rng)
    before, which = bias(), np.array([True, False, False, True])
    world.reset(rng, which)
    after = bias()
    np.testing.assert_allclose(after[~which], before[~which], atol=1e-12)
    assert (np.abs(after[which] - before[which]) > 1e-9).all()


def test_what_is_placed_is_taken_as_true_and_seen_through_the_sensors(reacher, rng):
    world, plain = reacher.target(Gap.parse("delay=1,sensor-bias=0.05,sensor-noise=0.02"), 50), reacher.source(50)
    start = plain.place(plain.reset(rng))
    world.reset(rng)
    world.step(np.ones((50, 2)))  # on its way when the robot is put elsewhere: it never arrives
    seen, again = world.place(start), world.place(start)
    np.testing.assert_allclose(world.fields["qpos"], plain.fields["qpos"], atol=1e-12)
    assert (seen - start).std() == pytest.approx(np.hypot(0.05, 0.02), rel=0.15)
    assert (seen != again).all()  # a new episode, and new noise
    world.step(np.ones((50, 2)))
    plain.step(np.zeros((50, 2)))
    np.testing.assert_array_equal(world.fields["qvel"], plain.fields["qvel"])


def test_an_episode_ends_by_what_is_true(reacher, rng):
    fragile = dataclasses.replace(reacher.robot_model, ended=lambda fields: fields["qpos"][:, 0] > 0.5)
    gap = Gap.parse("sensor-noise=1,sensor-delay=3")
    blurred = MujocoWorld(fragile, 3, sensors=gap.sensor_channel(fragile.spec, 3))
    plain = MujocoWorld(fragile, 3)
    for world in (blurred, plain):
        world.reset(np.random.default_rng(0))
    commands = np.array([[1.0, 0.0], [0.5, 0.0], [-1.0, 0.0]])
    for _ in range(30):
        step = blurred.step(commands)
        np.testing.assert_array_equal(step.ended, plain.step(commands).ended)
    assert step.ended.tolist() == [True, True, False]
    np.testing.assert_array_equal(blurred.step(commands).observations[:2], step.observations[:2])
