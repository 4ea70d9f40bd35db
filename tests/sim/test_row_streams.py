import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.sim.row_streams import BLOCK, Streams

ALL = slice(None)


def normals(n, size=1):
    return Streams(n, size, lambda rng, shape: rng.standard_normal(shape))


def begun(n, size=1, seed=0):
    streams = normals(n, size)
    streams.begin(np.random.default_rng(seed), ALL)
    return streams


@pytest.mark.parametrize("size", [1, 3, BLOCK + 1])
def test_numbers_go_on_past_a_block_without_repeating(size):
    streams = begun(2, size)
    drawn = np.array([streams(ALL) for _ in range(2 * BLOCK // size + 3)])
    assert drawn.shape[1:] == (2, size)
    assert len(np.unique(drawn)) == drawn.size
    assert abs(drawn.mean()) < 5 / np.sqrt(drawn.size)


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=8), st.integers(0, 3))
def test_what_a_world_draws_does_not_depend_on_when_the_others_draw(turns, world):
    streams, undisturbed = begun(4), begun(4)
    alone = np.arange(4) == world
    for turn in turns:
        which = np.array(turn)
        drawn = streams(which)
        assert drawn.shape == (which.sum(), 1)
        if which[world]:
            assert drawn[which[:world].sum()] == undisturbed(alone)


def test_beginning_anew_in_one_world_leaves_the_others_alone():
    streams, undisturbed = begun(3), begun(3)
    for one in (streams, undisturbed):
        one(ALL)
    streams.begin(np.random.default_rng(1), np.array([False, True, False]))
    for _ in range(BLOCK + 2):
        np.testing.assert_array_equal(streams(ALL)[[0, 2]], undisturbed(ALL)[[0, 2]])


def test_a_stream_that_begins_anew_forgets_what_it_drew():
    streams, fresh = begun(2), normals(2)
    for _ in range(5):
        streams(ALL)
    for one in (streams, fresh):
        one.begin(np.random.default_rng(9), ALL)
    np.testing.assert_array_equal(streams(ALL), fresh(ALL))


def test_worlds_draw_different_numbers():
    assert len(np.unique(begun(100)(ALL))) == 100
