import io

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.hardware.driver import columns
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.ros1 import Address
from isthmus.hardware.ros1.action import action_type, read_goal, write_goal
from isthmus.hardware.ros1.bindings import find_ros

needs_ros = pytest.mark.skipif(bool(find_ros()), reason=find_ros() or "ROS is there")


@needs_ros
def test_our_definitions_have_the_checksums_of_a_real_fetch():
    assert action_type("Goal")._md5sum == "cff5c1d533bf2f82dd0138d57f4304bb"
    assert action_type("Result")._md5sum == "c4fb3b000dc9da4fd99699380efcc5d9"
    assert action_type("Feedback")._md5sum == "d8920dc4eae9fc107e00999cce4be641"


@needs_ros
def test_a_goal_comes_through_as_it_was():
    goal = Goal("one", ("a", "b"), ((0.1, np.array([1.0, 2.0])),), 12.5)
    wire = io.BytesIO()
    write_goal(goal).serialize(wire)
    read = read_goal(action_type("Goal")().deserialize(wire.getvalue()))
    assert (read.identity, read.names, read.stamp) == ("one", ("a", "b"), 12.5)
    np.testing.assert_array_equal(read.points[0][1], [1.0, 2.0])


@pytest.mark.parametrize(
    ("cancel", "concerned"),
    [
        (Cancel(), True),
        (Cancel("this"), True),
        (Cancel("another"), False),
        (Cancel("", 12.0), True),
        (Cancel("", 9.0), False),
        (Cancel("another", 12.0), True),
    ],
)
def test_a_cancel_is_by_name_by_time_or_of_everything(cancel, concerned):
    assert cancel.concerns("this", 10.0) == concerned


def test_joints_are_found_by_name_and_all_of_them_or_none():
    assert columns(("x", "b", "a"), ("a", "b")) == [2, 1]
    assert columns(("x", "b"), ("a", "b")) is None


@pytest.mark.parametrize("text", ["127.0.0.1:11311", "http://127.0.0.1", "ros://", "ros://a:b", "ros://a/x"])
def test_an_address_that_is_none_is_refused(text):
    with pytest.raises(Problem, match=r"ros://127\.0\.0\.1:11311"):
        Address.parse(text)


def test_an_address_has_a_port_of_its_own_or_the_usual_one():
    assert Address.parse("ros://10.0.0.2") == Address("10.0.0.2", 11311)
    assert str(Address.parse("ros://10.0.0.2:4")) == "ros://10.0.0.2:4"
