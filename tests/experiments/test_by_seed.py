import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.experiments.by_seed import Quartiles

VALUES = st.lists(st.floats(-10, 10), min_size=1, max_size=12)


@given(VALUES)
def test_without_failures_it_is_the_usual_spread(values):
    spread = Quartiles.of(values)
    assert (spread.low, spread.median, spread.high) == pytest.approx(tuple(np.percentile(values, (25, 50, 75))))


@given(VALUES, st.integers(1, 12))
def test_a_failure_counts_as_larger_than_all_others(values, failures):
    spread = Quartiles.of([*values, *[None] * failures])
    far = Quartiles.of([*values, *[1e9] * failures])
    for ours, theirs in ((spread.low, far.low), (spread.median, far.median), (spread.high, far.high)):
        assert ours is None if theirs > 10 else ours == theirs


def test_in_words():
    assert Quartiles.of([1000, 2000, 3000]).text("{:.1f}", 1000) == ("2.0", "1.5 to 2.5")
    assert Quartiles.of([1000, 2000, None]).text("{:.1f}", 1000, beyond=">40") == ("2.0", "1.5 to >40")
    assert Quartiles.of([None]).text("{:.1f}", beyond=">40") == ("not reached", ">40 to >40")
