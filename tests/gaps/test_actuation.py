"""What lies between a command and its actuator, as it is felt by a robot that is commanded."""

import numpy as np
import pytest

from isthmus.gaps import Gap
from isthmus.robots import load_task

STEPS = 40


def driven(task, gap, commands, *, seed=0):
    """Joint speeds of Reacher (steps, n, 2) from rest, and what the driver said it had accepted (steps, n, 2)."""
    world = task.target(Gap.parse(gap), commands.shape[1])
    world.reset(np.random.default_rng(seed))
    steps = [world.step(command) for command in commands]
    return np.stack([step.observations[:, 6:8] for step in steps]), np.stack([step.applied for step in steps])


@pytest.fixture
def commands(rng):
    """White noise, one in three past the limit."""
    return rng.uniform(-1.5, 1.5, (STEPS, 30, 2))


GAPS = [
    "delay=2",
    "delay=1,delay-jitter=3",
    "dead-band=0.3",
    "backlash=0.5",
    "motor-noise=0.5",
    "motor-noise=0.5,noise-correlation=1",
    "delay=1,dead-band=0.1,backlash=0.2,motor-noise=0.2,noise-correlation=0.9,torque-limit=0.5",
]


@pytest.mark.parametrize("gap", GAPS)
def test_the_driver_tells_nothing_of_what_becomes_of_a_command(reacher, commands, gap):
    speeds, applied = driven(reacher, gap, commands)
    np.testing.assert_array_equal(applied, np.clip(commands, -1, 1))
    assert np.abs(speeds - driven(reacher, "none", commands)[0]).max() > 1e-2


@pytest.mark.parametrize("gap", GAPS)
def test_robots_start_where_they_start_without_it(reacher, gap):
    world, plain = reacher.target(Gap.parse(gap), 4), reacher.source(4)
    np.testing.assert_array_equal(world.reset(np.random.default_rng(3)), plain.reset(np.random.default_rng(3)))


@pytest.mark.parametrize("delay", [0, 1, 2, 5])
def test_a_delay_is_where_the_response_correlates_with_the_command(reacher, commands, delay):
    """The first joint's acceleration in a step follows the command that acts in it."""
    speeds, _ = driven(reacher, f"delay={delay}", commands)
    acceleration = np.diff(speeds[:, :, 0], axis=0, prepend=0.0)
    given = np.clip(commands[:, :, 0], -1, 1)
    correlation = [
        np.corrcoef(acceleration[10:].ravel(), given[10 - lag : STEPS - lag].ravel())[0, 1] for lag in range(8)
    ]
    assert int(np.argmax(correlation)) == delay
    assert correlation[delay] > 0.8


def test_until_the_first_command_arrives_none_is_given(reacher, commands):
    late, _ = driven(reacher, "delay=3", commands)
    nothing, _ = driven(reacher, "none", np.zeros_like(commands))
    at_once, _ = driven(reacher, "none", np.concatenate((np.zeros_like(commands[:3]), commands[:-3])))
    np.testing.assert_array_equal(late[:3], nothing[:3])
    np.testing.assert_array_equal(late, at_once)


def test_commands_within_the_play_or_the_band_move_nothing(reacher, rng):
    commands = rng.uniform(-0.2, 0.2, (STEPS, 3, 2))
    still, _ = driven(reacher, "none", np.zeros_like(commands))
    np.testing.assert_array_equal(driven(reacher, "backlash=0.5", commands)[0], still)
    np.testing.assert_array_equal(driven(reacher, "dead-band=0.3", commands)[0], still)
    assert (driven(reacher, "backlash=0.1", commands)[0] != still).any()
    assert (driven(reacher, "dead-band=0.1", commands)[0] != still).any()


def test_play_is_given_in_half_ranges():
    """Humanoid's actuators go to 0.4: a play of one half range is 0.4 wide, 0.2 on each side."""
    task = load_task("humanoid")
    channel = Gap.parse("backlash=1").action_channel(task.robot_model.spec, 1)
    channel.begin(np.zeros((1, 17)), {}, np.random.default_rng(0), slice(None))
    np.testing.assert_allclose(channel(np.full((1, 17), 0.3), {}, slice(None)), 0.1)


@pytest.mark.parametrize(("task", "half_range"), [("reacher", 1.0), ("humanoid", 0.4)])
@pytest.mark.parametrize("correlation", [0.0, 0.9, 1.0])
def test_noise_is_given_in_half_ranges_and_correlated_in_time(task, half_range, correlation):
    spec = load_task(task).robot_model.spec
    channel = Gap.parse(f"motor-noise=0.5,noise-correlation={correlation}").action_channel(spec, 300)
    still = np.zeros((300, spec.action_size))
    channel.begin(still, {}, np.random.default_rng(0), slice(None))
    noise = np.stack([channel(still, {}, slice(None)) for _ in range(60)])
    assert noise.std() == pytest.approx(0.5 * half_range, rel=0.05)
    assert (noise[1:] * noise[:-1]).mean() / noise.var() == pytest.approx(correlation, abs=0.04)


def test_noise_is_added_to_the_raw_command_and_the_sum_is_clipped(reacher):
    """A command far past the limit is out of reach of the noise; one at the limit is not."""
    far, near = np.full((STEPS, 5, 2), 6.0), np.full((STEPS, 5, 2), 1.0)
    limit, _ = driven(reacher, "none", near)
    np.testing.assert_array_equal(driven(reacher, "motor-noise=0.5", far)[0], limit)
    noisy, _ = driven(reacher, "motor-noise=0.5", near)
    assert (np.abs(noisy[5:, :, 0]) < np.abs(limit[5:, :, 0])).mean() > 0.9


def test_constant_noise_pushes_the_same_way_all_episode_long_and_another_way_in_the_next(reacher):
    """Its effect is that of a constant command, found by asking for nothing."""
    still = np.zeros((STEPS, 6, 2))
    first, _ = driven(reacher, "motor-noise=0.3,noise-correlation=1", still, seed=0)
    second, _ = driven(reacher, "motor-noise=0.3,noise-correlation=1", still, seed=1)
    channel = Gap.parse("motor-noise=0.3,noise-correlation=1").action_channel(reacher.robot_model.spec, 6)
    rng = np.random.default_rng(0)
    reacher.robot_model.start(rng, 6)
    channel.begin(still[0], {}, np.random.default_rng(rng.integers(2**63)), slice(None))
    pushed = np.broadcast_to(channel(still[0], {}, slice(None)), still.shape)
    np.testing.assert_array_equal(first, driven(reacher, "none", pushed)[0])
    assert (np.sign(first[-1]) != np.sign(second[-1])).any()


def test_predictions_know_nothing_of_it(reacher, rng):
    from isthmus.core import History

    noisy, plain = reacher.target(Gap.parse("delay=2,motor-noise=0.5,sensor-noise=0.1"), 3), reacher.source(3)
    history, actions = History.of(plain.reset(rng)), rng.uniform(-1, 1, (3, 2))
    np.testing.assert_array_equal(noisy.predict(history, actions), plain.predict(history, actions))
