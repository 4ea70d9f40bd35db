import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isthmus.core import Problem
from isthmus.hardware import Guard, Limits, SafetySettings, Unsafe

LOW, HIGH, SPEEDS = np.array([-1.0, -2.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0])
ANYTHING = arrays(np.float64, 2, elements=st.floats(allow_nan=True, allow_infinity=True))
ANGLES = arrays(np.float64, 2, elements=st.floats(-10, 10))
WIDTHS = arrays(np.float64, 2, elements=st.floats(1e-3, 10))


def guard() -> Guard:
    return Guard(Limits.of_positions(LOW, HIGH, SPEEDS, 0.1, SafetySettings(step=1.5, pull=4.0)))


def test_a_safe_command_passes_as_it_is():
    command = np.array([0.1, 0.2])
    one = guard()
    np.testing.assert_array_equal(one.admit(command, np.zeros(2), np.zeros(2)), command)
    assert vars(one.clipped) == {"commands": 1, "position": 0, "step": 0, "lead": 0}


@given(low=ANGLES, width=WIDTHS, step=WIDTHS, lead=WIDTHS, command=ANYTHING, last=ANYTHING, measured=ANYTHING)
def test_an_admitted_command_is_within_every_limit_whatever_is_read(low, width, step, lead, command, last, measured):
    one = Guard(Limits(low, low + width, step, lead))
    try:
        admitted = one.admit(command, last, measured)
    except Unsafe:
        return
    assert (admitted >= low).all()
    assert (admitted <= low + width).all()
    assert (admitted >= last - step).all()
    assert (admitted <= last + step).all()
    assert (admitted >= measured - lead).all()
    assert (admitted <= measured + lead).all()


@given(low=ANGLES, width=WIDTHS, step=WIDTHS, lead=WIDTHS, pull=WIDTHS, command=ANYTHING, last=ANGLES, measured=ANGLES)
def test_the_pull_gives_way_to_the_other_limits_and_is_kept_wherever_they_allow_it(
    low, width, step, lead, pull, command, last, measured
):
    def admitted(pull):
        try:
            return Guard(Limits(low, low + width, step, lead, pull=pull)).admit(command, last, measured)
        except Unsafe:
            return None

    freely, eased = admitted(None), admitted(pull)
    assert (eased is None) == (freely is None)  # the pull never has the robot held
    if eased is None:
        return
    lowest = np.maximum(np.maximum(low, last - step), measured - lead)
    highest = np.minimum(np.minimum(low + width, last + step), measured + lead)
    assert (eased >= lowest).all()
    assert (eased <= highest).all()
    before, after = np.abs(last - measured), np.abs(eased - measured)
    forced = (eased == lowest) & (lowest > last) | (eased == highest) & (highest < last)
    assert ((after <= np.maximum(before, pull) * (1 + 1e-9)) | forced).all()


def test_a_command_that_pulls_hard_stays_where_it_is_and_may_come_back():
    limits = Limits.of_positions(LOW, HIGH, SPEEDS, 0.1, SafetySettings(step=0.8, pull=1.5))
    ahead, here = np.array([0.2, 0.0]), np.zeros(2)
    one = Guard(limits)
    np.testing.assert_allclose(one.admit(np.array([0.5, 0.0]), np.array([0.1, 0.0]), here), [0.15, 0.0])
    np.testing.assert_allclose(one.admit(np.array([0.5, 0.0]), ahead, here), ahead)
    np.testing.assert_allclose(one.admit(np.array([0.0, 0.0]), ahead, here), [0.12, 0.0])
    assert one.clipped.lead == 2


@given(
    command=ANGLES,
    last=arrays(np.float64, 2, elements=st.floats(-1, 1)),
    error=arrays(np.float64, 2, elements=st.floats(-0.4, 0.4)),
)
def test_a_joint_near_its_last_command_is_never_held(command, last, error):
    measured = np.clip(last + error, LOW, HIGH)
    admitted = guard().admit(command, last, measured)
    assert np.isfinite(admitted).all()


def test_a_wrong_reading_does_not_move_the_joint():
    with pytest.raises(Unsafe, match=r"actuator 0 is at 1\.5 after a command of 0"):
        guard().admit(np.zeros(2), np.zeros(2), np.array([1.5, 0.0]))


def test_the_message_names_the_joint_its_reading_and_its_limits():
    limits = Limits.of_positions(LOW, HIGH, SPEEDS, 0.1, SafetySettings(step=1.5), ("shoulder", "elbow"))
    with pytest.raises(Unsafe, match=r"elbow is at 1\.9 after a command of 0: .* range \(-2 to 2\), 0\.3 from"):
        Guard(limits).admit(np.zeros(2), np.zeros(2), np.array([0.0, 1.9]))


def test_what_is_clipped_is_counted_by_its_reason():
    one = guard()
    one.admit(np.array([0.3, 0.0]), np.zeros(2), np.zeros(2))
    one.admit(np.array([0.9, 0.0]), np.array([0.9, 0.0]), np.array([0.4, 0.0]))
    one.admit(np.array([1.1, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert vars(one.clipped) == {"commands": 3, "position": 1, "step": 1, "lead": 1}


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_no_command(wrong):
    with pytest.raises(Unsafe, match="not finite"):
        guard().admit(np.array([wrong, 0.0]), np.zeros(2), np.zeros(2))


def test_actuators_of_which_only_the_range_is_known_may_step_freely():
    one = Guard(Limits.of_range(LOW, HIGH))
    np.testing.assert_array_equal(one.admit(np.array([5.0, -5.0]), LOW, HIGH), [1.0, -2.0])


def test_limits_that_make_no_sense_are_refused():
    with pytest.raises(Problem, match=r"safety.step cannot be -1"):
        SafetySettings(step=-1)
