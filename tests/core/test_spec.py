from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import WorldSpec

SPEC = WorldSpec(
    observation_names=("angle", "speed", "height"),
    action_names=("hip", "knee"),
    action_low=np.array([-1.0, 0.0]),
    action_high=np.array([1.0, 3.0]),
    control_period=0.02,
    horizon=50,
    targets=np.array([0, 1]),
)


def test_sizes_and_ranges_follow_from_names_and_limits():
    assert (SPEC.observation_size, SPEC.action_size) == (3, 2)
    assert SPEC.half_range.tolist() == [1.0, 1.5]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"action_low": np.array([-1.0])}, "action limits have shapes"),
        ({"action_high": np.array([1.0, 3.0, 4.0])}, "action limits have shapes"),
        ({"action_low": np.array([[-1.0, 0.0]])}, "action limits have shapes"),
        ({"action_low": np.array([-1.0, 3.0])}, "must be below"),
        ({"action_low": np.array([2.0, 0.0])}, "must be below"),
        ({"action_low": np.array([np.nan, 0.0])}, "must be below"),
        ({"targets": np.array([], np.int64)}, "targets must index the 3"),
        ({"targets": np.array([0, 3])}, "targets must index the 3"),
        ({"targets": np.array([-1, 0])}, "targets must index the 3"),
        ({"horizon": 0}, "must be positive"),
        ({"control_period": 0.0}, "must be positive"),
        ({"control_period": -0.1}, "must be positive"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        replace(SPEC, **change)


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=1, max_size=5))
def test_clipping_is_what_numpy_does_with_the_limits(rows):
    commands = np.array(rows)
    before = commands.copy()
    np.testing.assert_array_equal(SPEC.clip(commands), np.clip(commands, SPEC.action_low, SPEC.action_high))
    np.testing.assert_array_equal(commands, before)
