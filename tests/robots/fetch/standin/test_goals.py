"""The book of goals, without ROS."""

import pytest

from isthmus.hardware.goal import Goal
from isthmus.hardware.ros1.action import ACTIVE, PREEMPTED, REJECTED, SUCCEEDED
from isthmus.robots.fetch.standin.action import KEPT, Goals


class Hand:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Hand()


@pytest.fixture
def goals(clock):
    return Goals(clock)


def goal(name):
    return Goal(name, (), (), 1.0)


def told(goals):
    return [(status.identity, status.state) for status in goals.statuses()]


def test_goals_are_told_of_in_order_with_the_current_one_last(goals):
    goals.begin(goal("a"))
    goals.end(SUCCEEDED, "")
    goals.begin(goal("b"))
    goals.refuse(goal("c"), REJECTED, "no")
    assert told(goals) == [("a", SUCCEEDED), ("c", REJECTED), ("b", ACTIVE)]


def test_a_goal_that_has_ended_is_forgotten_after_a_while(goals, clock):
    goals.begin(goal("a"))
    goals.end(PREEMPTED, "")
    clock.now += KEPT - 0.1
    assert goals.knows("a")
    assert told(goals) == [("a", PREEMPTED)]
    clock.now += 0.2
    assert told(goals) == []
    assert not goals.knows("a")


def test_the_current_goal_is_never_forgotten(goals, clock):
    goals.begin(goal("a"))
    clock.now += 10 * KEPT
    assert told(goals) == [("a", ACTIVE)]


def test_a_goal_ends_once(goals):
    goals.begin(goal("a"))
    assert goals.end(SUCCEEDED, "") is not None
    assert goals.end(PREEMPTED, "") is None
