import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.common.censoring import is_saturated
from isthmus.adapt.common.truncated_normal import inverse_mills_ratio, upper_tail

BOUNDS = [-6.0, -1.0, 0.0, 0.5, 2.0, 3.9, 4.1, 8.0]


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_upper_tail_is_the_normal_one(bound):
    assert upper_tail(np.array([bound]))[0] == pytest.approx(0.5 * math.erfc(bound / math.sqrt(2)), abs=1e-7)


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_mean_beyond_a_bound_is_that_of_the_normal_tail(bound):
    exact = math.exp(-0.5 * bound**2) / math.sqrt(2 * math.pi) / (0.5 * math.erfc(bound / math.sqrt(2)))
    assert inverse_mills_ratio(np.array([bound]))[0] == pytest.approx(exact, rel=2e-3, abs=1e-6)


def drawn(seed, size=2000):
    rng = np.random.default_rng(seed)
    return rng, rng.uniform(-1, 1, (size, 3))


@given(st.integers(0, 100), st.floats(0.3, 1.5))
def test_noise_before_the_limit_leaves_a_heap_there(seed, noise):
    rng, asked = drawn(seed)
    done = np.clip(asked + noise * rng.standard_normal(asked.shape), -1, 1)
    assert is_saturated(asked, done, np.ones_like(done))
    assert not is_saturated(asked, done, np.full_like(done, 0.1))


@given(st.integers(0, 100), st.floats(0.3, 1.6), st.floats(0.0, 0.4))
def test_other_motors_and_other_forces_leave_none(seed, gain, force):
    rng, asked = drawn(seed)
    done = gain * asked + force * rng.standard_normal(asked.shape)
    assert not is_saturated(asked, done, np.ones_like(done))


def counted(limit, inner, outer, *, action=0.0, sign=1.0):
    """Whether so many effects at the limit, and so many at the places on either side of it, are a peak."""
    effects = sign * np.repeat([1.0, 0.91, 1.09], [limit, inner, outer])[:, None]
    return is_saturated(np.full_like(effects, action), effects, np.ones_like(effects))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_peak_has_half_as_many_again_as_below_it_and_ten_times_as_many_as_beyond(sign):
    assert counted(30, 19, 2, sign=sign)
    assert not counted(30, 20, 2, sign=sign)
    assert not counted(30, 19, 3, sign=sign)


def test_a_few_effects_at_the_limit_are_no_peak():
    assert counted(20, 0, 0)
    assert not counted(19, 0, 0)


@pytest.mark.parametrize("action", [0.9, -0.9])
def test_effects_of_actions_that_were_near_the_limit_themselves_do_not_count(action):
    assert counted(40, 0, 0, action=0.8 * action)
    assert not counted(40, 0, 0, action=action)
