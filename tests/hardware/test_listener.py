"""Which readings are believed, without ROS."""

import numpy as np
import pytest

from isthmus.hardware import ReadingCheck
from isthmus.hardware.driver import JointReading
from isthmus.hardware.listener import IN_A_ROW, Listener

NAMES, LOW, HIGH, SPEEDS = ("shoulder", "elbow"), np.full(2, -1.0), np.full(2, 1.0), np.full(2, 1.0)
DELAY = 0.005


class Robot:
    """Tells its joints a hundred times a second, and may be told to lie."""

    def __init__(self, ahead=0.0):
        self.listener = Listener(NAMES, ReadingCheck(LOW, HIGH, SPEEDS, NAMES), dated_by_us=True)
        self.now, self.ahead, self.positions = 100.0, ahead, np.array([0.2, -0.3])

    def tell(self, readings=1, *, ahead=0.0, positions=None, velocities=None):
        for _ in range(readings):
            self.now += 0.01
            told = JointReading(
                self.now + self.ahead + ahead,
                NAMES,
                self.positions if positions is None else np.array(positions),
                np.zeros(2) if velocities is None else np.array(velocities),
            )
            self.listener.take(told, self.now + DELAY)

    @property
    def heard(self):
        return self.listener.heard


@pytest.fixture
def robot():
    one = Robot()
    one.tell(30)
    assert one.heard.stamp == one.now
    return one


def test_a_reading_has_the_time_of_its_arrival_beside_its_stamp(robot):
    assert robot.heard.arrived == pytest.approx(robot.now + DELAY)


def test_a_clock_that_is_a_little_ahead_is_made_up_for():
    robot = Robot(ahead=0.05)
    robot.tell(30)
    assert robot.heard.stamp == pytest.approx(robot.now, abs=0.01)
    assert not robot.listener.fault


def test_nothing_is_believed_of_a_clock_that_is_far_ahead():
    robot = Robot(ahead=5.0)
    robot.tell(60)
    assert robot.heard is None
    assert "5 s ahead" in robot.listener.fault


def test_stamps_ahead_of_the_others_do_not_drop_those_and_are_counted(robot):
    for _ in range(50):
        robot.tell(ahead=0.9)
        robot.tell()
    assert robot.heard.stamp == robot.now
    assert robot.listener.traffic.misdated == 50
    assert robot.listener.traffic.disordered == 0
    assert robot.listener.traffic.dropped == pytest.approx(50 / 130)


@pytest.mark.parametrize(
    ("wrong", "count", "told"),
    [
        ({"positions": [np.nan, 0.0]}, "broken", "shoulder reads nan"),
        ({"positions": [0.2, 1e300]}, "implausible", "elbow reads 1e+300, outside its range"),
        ({"positions": [0.9, -0.3]}, "implausible", "shoulder reads 0.9 after 0.2, further than"),
        ({"velocities": [0.0, 1e300]}, "implausible", "elbow reads a velocity of 1e+300"),
        ({"ahead": 2.0}, "misdated", "stamped 1.995 s later than it came"),
        ({"ahead": -2.0}, "disordered", "before the one that came before it"),
    ],
)
def test_a_reading_that_cannot_be_true_is_no_data_and_many_in_a_row_are_a_fault(robot, wrong, count, told):
    last = robot.heard
    robot.tell(IN_A_ROW - 1, **wrong)
    assert robot.heard is last
    assert getattr(robot.listener.traffic, count) == IN_A_ROW - 1
    assert not robot.listener.fault
    robot.tell(1, **wrong)
    assert told in robot.listener.fault
    robot.tell()
    assert not robot.listener.fault
    assert robot.heard.stamp == robot.now


def test_other_parts_of_a_robot_do_not_count_as_dropped(robot):
    robot.listener.take(JointReading(robot.now, ("finger",), np.zeros(1), np.zeros(1)), robot.now)
    assert robot.listener.traffic.foreign == 1
    assert robot.listener.traffic.dropped == 0
