import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import keep_overflow

FINITE = st.floats(-5, 5)


def kept(source, corrected, low=-1.0, high=1.0):
    [[command]] = keep_overflow(*(np.array([[number]]) for number in (source, corrected, low, high)))
    return command


@pytest.mark.parametrize(
    ("source", "corrected", "limits", "command"),
    [
        (2.5, 0.3, (-1, 1), 0.3),  # corrected inside the limits: the excess would undo it
        (2.5, 1.0, (-1, 1), 2.5),  # still at the limit: the excess stays
        (2.5, 1.2, (-1, 1), 2.7),  # beyond it on purpose
        (2.5, -1.0, (-1, 1), -1.0),  # at the other limit
        (-2.5, -0.3, (-1, 1), -0.3),
        (-2.5, -1.0, (-1, 1), -2.5),
        (-2.5, 1.0, (-1, 1), 1.0),
        (0.5, 0.8, (-1, 1), 0.8),
        (0.5, 1.0, (-1, 1), 1.0),  # no excess to keep
        (9.0, 4.0, (-1, 4), 9.0),  # asymmetric limits
        (9.0, 3.0, (-1, 4), 3.0),
        (-2.0, -1.0, (-1, 4), -2.0),
        (0.2, 0.5, (0.5, 0.6), 0.2),  # limits of one sign
        (0.3, 0.1, (-0.1, 0.1), 0.3),
        (0.3, 0.05, (-0.1, 0.1), 0.05),
        (2.5, 1.0 - 1e-12, (-1, 1), 2.5),  # rounding is no correction
    ],
)
def test_the_excess_of_a_source_is_kept_where_the_corrected_action_is_at_the_same_limit(
    source, corrected, limits, command
):
    assert kept(source, corrected, *limits) == pytest.approx(command, abs=1e-9)


@given(FINITE, FINITE)
def test_a_kept_excess_never_changes_what_the_actuator_does(source, corrected):
    low, high = -1.0, 2.0
    command = kept(source, corrected, low, high)
    assert np.clip(command, low, high) == pytest.approx(np.clip(corrected, low, high), abs=1e-5)
    assert kept(source, np.clip(source, low, high), low, high) == pytest.approx(source)  # nothing is corrected
