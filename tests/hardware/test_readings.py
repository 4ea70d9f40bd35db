import re

import numpy as np
import pytest

from isthmus.hardware import ReadingCheck

LOW, HIGH, SPEEDS, STILL = np.array([-1.0, -2.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.zeros(2)


@pytest.fixture
def check() -> ReadingCheck:
    one = ReadingCheck(LOW, HIGH, SPEEDS)
    assert not one.fault(np.array([0.5, -1.0]), STILL, 10.0)
    return one


def test_a_joint_that_moves_within_its_speed_limit_is_believed(check):
    for step in range(1, 20):
        assert not check.fault(np.array([0.5 - 0.02 * step, -1.0 + 0.04 * step]), STILL, 10.0 + 0.02 * step)
    assert check.faults == 0


@pytest.mark.parametrize(
    ("positions", "why"),
    [
        ([np.nan, 0.0], "no number"),
        ([1e300, 0.0], "joint 0 reads 1e\\+300, outside its range of -1.1 to 1.1"),
        ([0.5, 2.3], "joint 1 reads 2.3, outside its range"),
        ([0.0, -1.0], "joint 0 reads 0 after 0.5, further than the 0.075 that it can have moved"),
    ],
)
def test_a_reading_that_cannot_be_true_is_a_fault_and_is_forgotten(check, positions, why):
    assert re.search(why, check.fault(np.array(positions), STILL, 10.02))
    assert check.faults == 1
    assert not check.fault(np.array([0.51, -1.0]), STILL, 10.04)


def test_a_velocity_that_is_no_number_is_a_fault(check):
    assert "no number" in check.fault(np.array([0.5, -1.0]), np.array([0.0, np.inf]), 10.02)


def test_a_robot_that_was_away_is_believed_anew(check):
    check.forget()
    assert not check.fault(np.array([-0.9, 1.9]), STILL, 10.02)


def test_a_velocity_that_no_joint_has_is_a_fault(check):
    told = check.fault(np.array([0.5, -1.0]), np.array([0.0, 1e300]), 10.02)
    assert told == "joint 1 reads a velocity of 1e+300, above 3 times its limit of 2"


def test_a_joint_is_called_by_its_name():
    check = ReadingCheck(LOW, HIGH, SPEEDS, ("shoulder", "elbow"))
    assert check.fault(np.array([0.0, 9.0]), STILL, 1.0).startswith("elbow reads 9, outside its range of")


def test_a_joint_that_a_person_pushes_and_readings_that_queue_up_are_believed(check):
    pushed = np.array([0.5, -1.0])
    for step in range(1, 11):  # ten readings that arrive all at once
        assert not check.fault(pushed + 0.01 * step * SPEEDS, STILL, 10.0 + 1e-4 * step)
