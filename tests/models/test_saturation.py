import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.models.saturation import Overcommand, is_cut_at_limit, mean_beyond


@pytest.mark.parametrize("bound", [-6.0, -1.0, 0.0, 0.5, 2.0, 3.9, 4.1, 8.0])
def test_the_mean_beyond_a_bound_is_that_of_the_normal_tail(bound):
    exact = math.exp(-0.5 * bound**2) / math.sqrt(2 * math.pi) / (0.5 * math.erfc(bound / math.sqrt(2)))
    assert mean_beyond(np.array([bound]))[0] == pytest.approx(exact, rel=2e-3, abs=1e-6)


@given(st.floats(0.05, 1.5), st.floats(-1, 1))
def test_no_other_command_has_a_smaller_error(noise, wanted):
    z = np.random.default_rng(0).standard_normal(4000)

    def error(command):
        return np.square(np.clip(command + noise * z, -1, 1) - wanted).mean()

    asked = Overcommand(np.array([noise]))(np.array([[wanted]]))[0, 0]
    others = np.linspace(-1 - 3 * noise, 1 + 3 * noise, 41)
    assert error(asked) <= min(error(other) for other in others) + 0.01
    assert asked * wanted >= 0


def test_without_noise_what_is_wanted_is_asked_for():
    wanted = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    np.testing.assert_array_equal(Overcommand(np.zeros(2))(wanted), wanted)


def drawn(seed, size=2000):
    rng = np.random.default_rng(seed)
    return rng, rng.uniform(-1, 1, (size, 3))


@given(st.integers(0, 100), st.floats(0.3, 1.5))
def test_noise_before_the_limit_leaves_a_heap_there(seed, noise):
    rng, asked = drawn(seed)
    assert is_cut_at_limit(asked, np.clip(asked + noise * rng.standard_normal(asked.shape), -1, 1))


@given(st.integers(0, 100), st.floats(0.3, 1.6), st.floats(0.0, 0.4))
def test_other_motors_and_other_forces_leave_none(seed, gain, force):
    rng, asked = drawn(seed)
    assert not is_cut_at_limit(asked, gain * asked + force * rng.standard_normal(asked.shape))
