"""What commands and observations go through, measured as one would measure a real drive."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.sim import Backlash, Chain, DeadBand, Delay, MujocoWorld, Noise, PerWorld

ALL = slice(None)
SIZE = 2
STATE = {"qpos": np.zeros((4, 1))}


def run(channel, signal, *, n=1, first=0.0, seed=0):
    """What comes out (steps, n, SIZE) when the same signal (steps,) goes into every world and dimension."""
    channel.begin(np.full((n, SIZE), first), STATE, np.random.default_rng(seed), ALL)
    return np.stack([channel(np.full((n, SIZE), value), STATE, ALL) for value in signal])


MAKERS = {
    "delay": lambda n: Delay(n, SIZE, 3),
    "delay with jitter": lambda n: Delay(n, SIZE, 1, 2),
    "dead band": lambda n: DeadBand(n, np.full(SIZE, 0.3)),
    "backlash": lambda n: Backlash(n, np.full(SIZE, 0.5)),
    "noise": lambda n: Noise(n, np.full(SIZE, 0.1)),
    "slow noise": lambda n: Noise(n, np.full(SIZE, 0.1), 0.9),
    "offset": lambda n: Noise(n, np.full(SIZE, 0.1), 1.0),
    "each its own": lambda n: PerWorld([Backlash(1, np.full(SIZE, 0.2)) for _ in range(n)]),
    "chain": lambda n: Chain([Delay(n, SIZE, 1, 1), Backlash(n, np.full(SIZE, 0.2)), Noise(n, np.full(SIZE, 0.1))]),
}


@pytest.fixture(params=MAKERS)
def make_channel(request):
    return MAKERS[request.param]


class TestContract:
    def test_the_same_generator_gives_the_same_values(self, make_channel, rng):
        signal = rng.uniform(-1, 1, 40)
        channel, other = make_channel(3), make_channel(3)
        run(other, signal, n=3, seed=5)  # a past that must not matter
        np.testing.assert_array_equal(run(channel, signal, n=3), run(other, signal, n=3))

    def test_worlds_that_wait_go_on_as_if_nothing_had_been(self, make_channel, rng):
        channel, undisturbed = make_channel(4), make_channel(4)
        which = np.array([True, False, True, False])
        for one in (channel, undisturbed):
            one.begin(np.zeros((4, SIZE)), STATE, np.random.default_rng(0), ALL)
        channel(np.ones((2, SIZE)), STATE, which)
        for _ in range(10):
            values = rng.uniform(-1, 1, (4, SIZE))
            np.testing.assert_array_equal(channel(values, STATE, ALL)[~which], undisturbed(values, STATE, ALL)[~which])

    def test_a_new_episode_in_one_world_does_not_disturb_the_others(self, make_channel, rng):
        channel, undisturbed = make_channel(4), make_channel(4)
        which = np.array([True, False, True, False])
        for one in (channel, undisturbed):
            one.begin(np.zeros((4, SIZE)), STATE, np.random.default_rng(0), ALL)
            one(np.ones((4, SIZE)), STATE, ALL)
        channel.begin(np.full((2, SIZE), 0.5), STATE, np.random.default_rng(1), which)
        for _ in range(10):
            values = rng.uniform(-1, 1, (4, SIZE))
            np.testing.assert_array_equal(channel(values, STATE, ALL)[~which], undisturbed(values, STATE, ALL)[~which])

    def test_values_are_neither_changed_nor_kept(self, make_channel, rng):
        channel, other = make_channel(2), make_channel(2)
        for one in (channel, other):
            one.begin(np.zeros((2, SIZE)), STATE, np.random.default_rng(0), ALL)
        for _ in range(6):
            values = rng.uniform(-1, 1, (2, SIZE))
            kept = values.copy()
            out = channel(values, STATE, ALL)
            np.testing.assert_array_equal(values, kept)
            np.testing.assert_array_equal(out, other(values.copy(), STATE, ALL))
            values[:], out[:] = 99.0, 99.0

    def test_no_world_at_all_is_no_trouble(self, make_channel):
        channel = make_channel(2)
        none = np.zeros(2, np.bool_)
        channel.begin(np.zeros((0, SIZE)), STATE, np.random.default_rng(0), none)
        assert channel(np.zeros((0, SIZE)), STATE, none).shape == (0, SIZE)


class TestDelay:
    @given(st.integers(0, 12))
    def test_what_goes_in_comes_out_after_so_many_steps(self, steps):
        signal = np.arange(30.0) + 1
        out = run(Delay(1, SIZE, steps), signal, first=-7.0)[:, 0, 0]
        np.testing.assert_array_equal(out, np.concatenate((np.full(steps, -7.0), signal))[:30])

    @given(st.integers(0, 4), st.integers(1, 5), st.integers(0, 100))
    def test_jitter_never_goes_back_in_time_nor_ahead_of_it(self, steps, jitter, seed):
        sent = np.arange(200)
        out = run(Delay(3, SIZE, steps, jitter), sent.astype(float), n=3, first=-1.0, seed=seed)[..., 0]
        assert (np.diff(out, axis=0) >= 0).all()
        lag = (sent[:, None] - out)[steps + jitter :]
        assert set(np.unique(lag)) <= set(range(steps, steps + jitter + 1))

    def test_jitter_delays_each_value_by_every_number_of_steps_alike(self):
        """With U{0..J} more steps each, the newest to arrive at t was sent at t - d with probability 1/(J+1), ..."""
        steps, jitter = 2, 3
        sent = np.arange(4000.0)
        lag = (sent[:, None] - run(Delay(5, SIZE, steps, jitter), sent, n=5)[..., 0])[10:] - steps
        still_out = np.cumprod([1 - (late + 1) / (jitter + 1) for late in range(jitter + 1)])
        for late in range(jitter + 1):
            assert (lag > late).mean() == pytest.approx(still_out[late], abs=0.015)

    def test_jitter_is_different_in_every_world(self):
        out = run(Delay(2, SIZE, 0, 3), np.arange(50.0), n=2)[..., 0]
        assert (out[:, 0] != out[:, 1]).any()


class TestDeadBand:
    def test_a_small_change_has_no_effect_and_a_large_one_has_all_of_it(self):
        out = run(DeadBand(1, np.array([0.1, 0.2])), [0.05, 0.09, 0.11, 0.15, 0.02, -0.3, -0.3])
        np.testing.assert_array_equal(out[:, 0, 0], [0, 0, 0.11, 0.11, 0.11, -0.3, -0.3])
        np.testing.assert_array_equal(out[:, 0, 1], [0, 0, 0, 0, 0, -0.3, -0.3])

    @given(st.lists(st.floats(-2, 2), min_size=1, max_size=30), st.floats(0.01, 1))
    def test_what_is_in_effect_is_never_further_off_than_the_band(self, signal, band):
        out = run(DeadBand(1, np.full(SIZE, band)), signal)[:, 0, 0]
        assert (np.abs(out - signal) <= band).all()


class TestBacklash:
    def test_a_loop_is_as_wide_as_the_play(self):
        """Driven up and down, the driven side lags half the play behind, and turning back crosses all of it."""
        width = 0.5
        up = np.linspace(0, 2, 81)
        signal = np.concatenate((up, up[::-1], up))
        out = run(Backlash(1, np.full(SIZE, width)), signal)[:, 0, 0]
        rising, falling = (out[81 + 80 :], signal[81 + 80 :]), (out[81:162], signal[81:162])
        assert out[80] == pytest.approx(2 - width / 2)
        np.testing.assert_allclose(falling[0][falling[1] < 2 - width], falling[1][falling[1] < 2 - width] + width / 2)
        np.testing.assert_allclose(falling[0][falling[1] >= 2 - width], 2 - width / 2)
        np.testing.assert_allclose(rising[0][rising[1] > width], rising[1][rising[1] > width] - width / 2)

    @given(st.lists(st.floats(-2, 2), min_size=1, max_size=30), st.floats(0.01, 1))
    def test_it_moves_only_when_pushed(self, signal, width):
        out = run(Backlash(1, np.full(SIZE, width)), signal)[:, 0, 0]
        assert (np.abs(out - signal) <= width / 2 + 1e-12).all()
        moved = np.abs(np.diff(out, prepend=0.0)) > 0
        np.testing.assert_allclose(np.abs(out - signal)[moved], width / 2, atol=1e-12)


class TestNoise:
    @pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.99])
    def test_it_has_the_std_and_the_autocorrelation_it_should(self, correlation):
        std = np.array([0.2, 3.0])
        noise = run(Noise(400, std, correlation), np.zeros(300), n=400) / std
        assert abs(noise.mean()) < 0.06
        np.testing.assert_allclose(noise.std(axis=(0, 1)), 1, rtol=0.04)
        np.testing.assert_allclose(noise[0].std(), 1, rtol=0.1)  # from the first step on
        for lag in (1, 2, 5):
            measured = (noise[lag:] * noise[:-lag]).mean() / np.square(noise).mean()
            assert measured == pytest.approx(correlation**lag, abs=0.02)

    def test_fully_correlated_it_is_constant_for_an_episode_and_another_in_the_next(self):
        channel = Noise(500, np.full(SIZE, 0.4), 1.0)
        first, second = run(channel, np.zeros(20), n=500, seed=0), run(channel, np.zeros(20), n=500, seed=1)
        for noise in (first, second):
            np.testing.assert_array_equal(noise, np.broadcast_to(noise[0], noise.shape))
            assert noise[0].std() == pytest.approx(0.4, rel=0.1)
        assert (first[0] != second[0]).all()

    def test_each_value_may_be_correlated_by_its_own_number(self):
        noise = run(Noise(400, np.array([0.2, 3.0]), np.array([1.0, 0.5])), np.zeros(100), n=400)
        np.testing.assert_array_equal(noise[:, :, 0], np.broadcast_to(noise[0, :, 0], (100, 400)))
        assert np.corrcoef(noise[1:, :, 1].ravel(), noise[:-1, :, 1].ravel())[0, 1] == pytest.approx(0.5, abs=0.02)

    @pytest.mark.parametrize("correlation", [0.0, 0.9, 1.0])
    def test_worlds_and_dimensions_have_noise_of_their_own(self, correlation):
        noise = run(Noise(2000, np.ones(SIZE), correlation), np.zeros(1), n=2000)[0]
        assert abs(np.corrcoef(noise.T)[0, 1]) < 0.08
        assert abs(np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]) < 0.08

    def test_it_is_added(self):
        channel, other = (Noise(3, np.full(SIZE, 0.1), 0.5) for _ in range(2))
        np.testing.assert_allclose(run(channel, np.full(9, 5.0), n=3) - 5, run(other, np.zeros(9), n=3), atol=1e-12)


def test_a_chain_goes_through_its_parts_in_order():
    signal = [1.0, 1.0, 0.0, 0.0]
    late_then_play = Chain([Delay(1, SIZE, 1), Backlash(1, np.full(SIZE, 0.5))])
    np.testing.assert_array_equal(run(late_then_play, signal)[:, 0, 0], [0, 0.75, 0.75, 0.25])


class Damper:
    """A drive that works against the speed it is shown, and keeps all that it is shown."""

    def __init__(self, gain):
        self.gain, self.shown, self.begun = gain, [], []

    def begin(self, first, fields, rng, rows):
        self.begun.append(fields["qpos"][rows].copy())

    def __call__(self, values, fields, rows):
        self.shown.append(fields["qvel"][rows].copy())
        return values - self.gain * fields["qvel"][rows][:, :SIZE]


def test_a_drive_is_shown_the_state_of_every_physics_step(reacher, rng):
    body, drive = reacher.robot_model, Damper(0.1)
    world = MujocoWorld(body, 1, drives=drive)
    world.reset(rng)
    assert len(drive.begun) == 1
    data = world.data(0)
    expected = []
    for command in rng.uniform(-1, 1, (5, 1, SIZE)):
        for _ in range(body.frame_skip):
            expected.append(data.qvel[None].copy())
            data.ctrl[:] = command[0] - 0.1 * data.qvel[:SIZE]
            mujoco.mj_step(body.model, data)
        world.step(command)
    np.testing.assert_array_equal(drive.shown, expected)
    np.testing.assert_array_equal(world.fields["qpos"][0], data.qpos)


def test_a_drive_that_does_nothing_changes_nothing(reacher, rng):
    plain, driven = MujocoWorld(reacher.robot_model, 3), MujocoWorld(reacher.robot_model, 3, drives=Damper(0.0))
    start = plain.reset(rng)
    plain.place(start)
    driven.place(start)
    for command in rng.uniform(-1, 1, (10, 3, SIZE)):
        np.testing.assert_array_equal(plain.step(command).observations, driven.step(command).observations)


def test_robots_that_wait_are_not_driven(reacher, rng):
    drive = Damper(0.1)
    world = MujocoWorld(reacher.robot_model, 3, drives=drive)
    before = world.reset(rng)
    seen = world.step(np.full((3, SIZE), 0.5), np.array([False, True, False])).observations
    assert {len(shown) for shown in drive.shown} == {1}
    np.testing.assert_array_equal(seen[[0, 2]], before[[0, 2]])


def test_an_action_channel_is_shown_the_state_once_a_control_step(reacher, rng):
    channel = Damper(0.1)
    world = MujocoWorld(reacher.robot_model, 2, actions=channel)
    world.reset(rng)
    before = world.fields["qvel"].copy()
    world.step(np.zeros((2, SIZE)))
    np.testing.assert_array_equal(channel.shown, [before])


def test_in_worlds_of_their_own_channels_are_shown_their_own_robot(reacher, rng):
    each = [Damper(0.1 * number) for number in range(3)]
    world = MujocoWorld(reacher.robot_model, 3, drives=PerWorld(each))
    world.reset(rng)
    before = world.fields["qvel"].copy()
    world.step(np.zeros((3, SIZE)), np.array([True, False, True]))
    assert [len(one.shown) for one in each] == [reacher.robot_model.frame_skip, 0, reacher.robot_model.frame_skip]
    for number in (0, 2):
        np.testing.assert_array_equal(each[number].shown[0], before[[number]])
