import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isthmus.core import Problem
from isthmus.ros import Guard, SafetySettings

LOW, HIGH, SPEEDS = np.array([-1.0, -2.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0])
ANGLES = arrays(np.float64, 2, elements=st.floats(-10, 10))


def guard() -> Guard:
    return Guard(LOW, HIGH, SPEEDS, 0.1, SafetySettings())


def test_a_safe_command_passes_as_it_is():
    command = np.array([0.1, 0.2])
    one = guard()
    np.testing.assert_array_equal(one.admit(command, np.zeros(2), np.zeros(2)), command)
    assert one.clipped.to_json() == {"commands": 1, "position": 0, "step": 0, "lead": 0}


@given(command=ANGLES, last=ANGLES, measured=ANGLES)
def test_no_command_ever_leaves_the_range(command, last, measured):
    admitted = guard().admit(command, last, measured)
    assert (admitted >= LOW).all()
    assert (admitted <= HIGH).all()


@given(command=ANGLES)
def test_a_command_moves_by_no_more_than_a_step(command):
    admitted = guard().admit(command, np.zeros(2), np.zeros(2))
    assert (np.abs(admitted) <= 1.5 * 0.1 * SPEEDS + 1e-12).all()


def test_what_is_clipped_is_counted_by_its_reason():
    one = guard()
    one.admit(np.array([5.0, 0.0]), np.zeros(2), np.zeros(2))
    one.admit(np.array([0.9, 0.0]), np.array([0.9, 0.0]), np.zeros(2))
    one.admit(np.array([1.1, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert one.clipped.to_json() == {"commands": 3, "position": 1, "step": 1, "lead": 1}


def test_a_number_that_is_none_is_no_command():
    with pytest.raises(ValueError, match="not finite"):
        guard().admit(np.array([np.nan, 0.0]), np.zeros(2), np.zeros(2))


def test_limits_that_make_no_sense_are_refused():
    with pytest.raises(Problem, match=r"safety.step cannot be -1"):
        SafetySettings(step=-1)
