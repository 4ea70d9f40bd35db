"""What holds for every world: whoever writes against the protocol need not know which one it is."""

import numpy as np
import pytest

from isthmus.core import Step, World

pytestmark = pytest.mark.parametrize("n", [1, 5])
STEPS = 6


def commands_for(world, rng, steps=STEPS):
    """Random commands, one in two past the limits."""
    spec = world.spec
    middle = (spec.action_low + spec.action_high) / 2
    return middle + 2 * spec.half_range * rng.uniform(-1, 1, (steps, world.n, spec.action_size))


def some_of(n):
    return np.arange(n) % 2 == 0


def test_it_is_a_world(make_world, n):
    world = make_world(n)
    assert isinstance(world, World)
    assert world.n == n
    assert world.spec.observation_size == len(world.spec.observation_names)


def test_observations_have_their_shape_and_are_finite(make_world, n, rng):
    world = make_world(n)
    first = world.reset(rng)
    assert first.shape == (n, world.spec.observation_size)
    assert np.isfinite(first).all()
    for commands in commands_for(world, rng):
        step = world.step(commands)
        assert isinstance(step, Step)
        assert step.observations.shape == first.shape
        assert np.isfinite(step.observations).all()
        assert step.ended.shape == (n,)
        assert step.ended.dtype == np.bool_


def test_what_is_applied_is_the_command_within_the_limits(make_world, n, rng):
    world = make_world(n)
    world.reset(rng)
    for commands in commands_for(world, rng):
        before = commands.copy()
        applied = world.step(commands).applied
        np.testing.assert_array_equal(applied, np.clip(commands, world.spec.action_low, world.spec.action_high))
        np.testing.assert_array_equal(commands, before)


def test_a_command_past_the_limit_does_what_the_limit_does(make_direct_world, n, rng):
    worlds = make_direct_world(n), make_direct_world(n)
    seeds = rng.integers(2**32)
    for world in worlds:
        world.reset(np.random.default_rng(seeds))
    for commands in commands_for(worlds[0], rng):
        asked = worlds[0].step(commands)
        np.testing.assert_array_equal(worlds[1].step(asked.applied).observations, asked.observations)


def test_a_step_carries_no_reward(make_world, n, rng):
    world = make_world(n)
    world.reset(rng)
    step = world.step(commands_for(world, rng)[0])
    assert {name for name in dir(step) if not name.startswith("_")} == {"observations", "applied", "ended"}


def test_what_was_returned_does_not_change_later(make_world, n, rng):
    world = make_world(n)
    first = world.reset(rng)
    commands = commands_for(world, rng)
    step = world.step(commands[0])
    kept = first.copy(), step.observations.copy(), step.applied.copy(), step.ended.copy()
    world.step(commands[1])
    world.reset(rng)
    for now, then in zip((first, step.observations, step.applied, step.ended), kept, strict=True):
        np.testing.assert_array_equal(now, then)


def test_the_same_generator_gives_the_same_episode_bit_for_bit(make_world, n, rng):
    commands = commands_for(make_world(n), rng)
    episodes = []
    for world in (make_world(n), make_world(n, threads=1), make_world(n, threads=3)):
        world.reset(np.random.default_rng(5))
        world.step(commands[0])  # a past that must not matter
        first = world.reset(np.random.default_rng(7))
        episodes.append([first, *(world.step(command).observations for command in commands)])
    for other in episodes[1:]:
        np.testing.assert_array_equal(other, episodes[0])


def test_another_generator_gives_another_start(make_world, n):
    world = make_world(n)
    starts = world.reset(np.random.default_rng(0)), world.reset(np.random.default_rng(1))
    assert (starts[0] != starts[1]).any(axis=1).all()


def test_worlds_start_in_different_states(make_world, n, rng):
    world = make_world(n)
    different = len(np.unique(world.reset(rng), axis=0))
    assert different == n if world.spec.commands == "effort" else different > n // 2  # of the swings there are few


def test_only_the_worlds_asked_move(make_world, n, rng):
    world, undisturbed = make_world(n), make_world(n)
    first = world.reset(np.random.default_rng(0))
    undisturbed.reset(np.random.default_rng(0))
    which, commands = some_of(n), commands_for(world, rng)
    for command in commands[:2]:  # a sensor may be a step late
        step = world.step(command, which)
    np.testing.assert_array_equal(step.observations[~which], first[~which])
    assert (step.observations[which] != first[which]).any(axis=1).all()
    for command in commands[1:]:  # those that waited go on as if nothing had been
        np.testing.assert_array_equal(
            world.step(command).observations[~which], undisturbed.step(command).observations[~which]
        )


def test_no_world_moves_when_none_is_asked(make_world, n, rng):
    world = make_world(n)
    first = world.reset(rng)
    step = world.step(commands_for(world, rng)[0], np.zeros(n, np.bool_))
    np.testing.assert_array_equal(step.observations, first)


def test_only_the_worlds_asked_are_reset(make_world, n, rng):
    world, undisturbed = make_world(n), make_world(n)
    which, commands = some_of(n), commands_for(world, rng)
    for one in (world, undisturbed):
        one.reset(np.random.default_rng(0))
        before = one.step(commands[0]).observations
    after = world.reset(np.random.default_rng(1), which)
    np.testing.assert_array_equal(after[~which], before[~which])
    assert (after[which] != before[which]).any(axis=1).all()
    for command in commands[1:]:
        np.testing.assert_array_equal(
            world.step(command).observations[~which], undisturbed.step(command).observations[~which]
        )


def test_a_world_that_is_reset_forgets_its_past(make_world, n, rng):
    world, fresh = make_world(n), make_world(n)
    which, commands = some_of(n), commands_for(world, rng)
    world.reset(np.random.default_rng(0))
    for command in commands:
        world.step(command)
    starts = world.reset(np.random.default_rng(1), which)
    fresh_starts = fresh.reset(np.random.default_rng(1), which)
    np.testing.assert_array_equal(starts[which], fresh_starts[which])
    for command in commands:
        np.testing.assert_array_equal(world.step(command).observations[which], fresh.step(command).observations[which])


def test_resetting_no_world_draws_nothing_and_changes_nothing(make_world, n, rng):
    world = make_world(n)
    before = world.reset(rng)
    state = rng.bit_generator.state
    np.testing.assert_array_equal(world.reset(rng, np.zeros(n, np.bool_)), before)
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_command_that_is_not_finite_is_refused_and_does_nothing(make_world, n, rng, number):
    world, undisturbed = make_world(n), make_world(n)
    for one in (world, undisturbed):
        one.reset(np.random.default_rng(0))
    commands = commands_for(world, rng)
    wrong = commands[0].copy()
    wrong[-1, -1] = number
    with pytest.raises(ValueError, match="not finite"):
        world.step(wrong)
    np.testing.assert_array_equal(world.step(commands[1]).observations, undisturbed.step(commands[1]).observations)


def test_commands_of_the_wrong_shape_are_refused(make_world, n, rng):
    world = make_world(n)
    world.reset(rng)
    act = world.spec.action_size
    for shape in ((n + 1, act), (n, act + 1), (act,), (n, act, 1), (n, 1)):
        with pytest.raises(ValueError, match="shape"):
            world.step(np.zeros(shape))


def test_each_world_behaves_like_a_world_of_one(make_direct_world, n, rng):
    world = make_direct_world(n)
    commands = commands_for(world, rng)
    start = world.place(world.reset(rng))
    together = np.stack([start, *(world.step(command).observations for command in commands)])
    for i in range(n):
        alone = make_direct_world(1)
        steps = [alone.place(start[i : i + 1]), *(alone.step(command[i : i + 1]).observations for command in commands)]
        np.testing.assert_allclose(np.concatenate(steps), together[:, i], rtol=0, atol=1e-12)


def test_an_observation_that_is_not_finite_or_of_the_wrong_shape_cannot_be_placed(make_world, n, rng):
    world = make_world(n)
    observations = world.reset(rng)
    with pytest.raises(ValueError, match="shape"):
        world.place(observations[:, :-1])
    with pytest.raises(ValueError, match="shape"):
        world.place(np.repeat(observations, 2, axis=0))
    observations[0, 0] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        world.place(observations)
