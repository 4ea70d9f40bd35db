import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from isthmus.core import stream
from isthmus.core.random import stream_seed

NAMES = st.lists(st.one_of(st.integers(), st.text("abcXYZ0123456789 -_", max_size=8)), max_size=4)
SEEDS = st.integers(0, 2**63 - 1)


@given(SEEDS, NAMES)
def test_the_same_name_draws_the_same_numbers_whatever_was_drawn_before(seed, name):
    first = stream(seed, *name).random(5)
    stream(seed, *name, "another").random(100)
    stream(seed + 1, *name).random(100)
    np.testing.assert_array_equal(stream(seed, *name).random(5), first)


@given(SEEDS, NAMES, SEEDS, NAMES)
def test_different_seeds_or_names_are_different_streams(seed, name, other_seed, other_name):
    assume((seed, name) != (other_seed, other_name))
    assert stream_seed(seed, *name) != stream_seed(other_seed, *other_name)


@given(SEEDS, st.integers())
def test_a_number_is_told_from_the_text_that_looks_like_it(seed, number):
    assert stream_seed(seed, number) != stream_seed(seed, str(number))


def test_the_order_of_a_name_counts():
    assert stream_seed(0, "a", "b") != stream_seed(0, "b", "a")
    assert stream_seed(0, "ab") != stream_seed(0, "a", "b")
    assert stream_seed(0, 1, 2) != stream_seed(0, 12)
    assert stream_seed(1, 2) != stream_seed(2, 1)


@given(SEEDS, NAMES)
def test_seeds_have_63_bits(seed, name):
    assert 0 <= stream_seed(seed, *name) < 2**63


def test_streams_stay_what_they_are_from_version_to_version():
    """A run that is resumed by a later version, or another interpreter, goes on with the same draws."""
    assert stream_seed(0, "collect", 3, 1) == 7848711218931303316
    assert stream(0, "fit", 2).integers(0, 1000, 4).tolist() == [814, 61, 945, 593]


def test_neighbouring_streams_are_uncorrelated():
    draws = np.stack([stream(0, "collect", number).normal(size=2000) for number in range(20)])
    correlation = np.corrcoef(draws) - np.eye(20)
    assert np.abs(correlation).max() < 0.1
