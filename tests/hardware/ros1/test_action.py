"""The stand-in's action, as those see it who know nothing of us: actionlib's own client, and the topics themselves."""

import time
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from isthmus.hardware.goal import Goal
from isthmus.hardware.ros1.action import (
    ACTION,
    ACTIVE,
    CANCEL,
    FEEDBACK,
    GOAL,
    PREEMPTED,
    REJECTED,
    RESULT,
    STATES,
    STATUS,
    SUCCEEDED,
    action_type,
    write_goal,
)
from isthmus.hardware.ros1.bindings import Graph, find_ros, message
from isthmus.robots.fetch.arm import HOME, JOINTS

LONG = ((60.0, HOME + 0.3),)  # no test sees it end
SHORT = ((0.4, HOME + 0.05),)
PATIENCE = 30.0
"""Seconds; on a machine that is busy with other tests."""


def until(holds, seconds=PATIENCE):
    """Wait for something; whether it came."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Topics:
    """Everything that the action says, and a voice to speak to it with."""

    def __init__(self, address):
        graph = Graph(address, "tests")
        self.results, self.feedback, self.statuses = [], [], []
        self._goal = graph.publish(GOAL, action_type("Goal"))
        self._cancel = graph.publish(CANCEL, message("actionlib_msgs/GoalID"))
        self._open = [
            self._goal,
            self._cancel,
            graph.subscribe(RESULT, action_type("Result"), self.results.append),
            graph.subscribe(FEEDBACK, action_type("Feedback"), self.feedback.append),
            graph.subscribe(STATUS, message("actionlib_msgs/GoalStatusArray"), self.statuses.append),
        ]
        assert until(lambda: all(topic.get_num_connections() for topic in self._open))

    def send(self, name, points, names=JOINTS):
        self._goal.publish(write_goal(Goal(name, names, points, time.time())))

    def cancel(self, name):
        given = message("actionlib_msgs/GoalID")()
        given.id = name
        self._cancel.publish(given)

    def ended(self):
        return {one.status.goal_id.id: one.status.status for one in self.results}

    def told(self):
        return {one.goal_id.id: one.status for one in self.statuses[-1].status_list} if self.statuses else {}

    def close(self):
        for topic in self._open:
            topic.unregister()


@contextmanager
def spoken_to(address):
    topics = Topics(address)
    try:
        yield topics
    finally:
        topics.close()


def test_what_becomes_of_a_goal_is_told(master, robot):
    with robot(speed=1.0), spoken_to(master) as topics:
        topics.send("replaced", LONG)
        assert until(lambda: topics.told() == {"replaced": ACTIVE})
        topics.send("cancelled", LONG)
        assert until(lambda: topics.told() == {"replaced": PREEMPTED, "cancelled": ACTIVE})
        topics.cancel("another")
        topics.send("wrong", SHORT, names=("no_joint", *JOINTS[1:]))
        assert until(lambda: topics.ended().get("wrong") == REJECTED)
        assert until(lambda: topics.told().get("cancelled") == ACTIVE)
        topics.cancel("cancelled")
        assert until(lambda: topics.ended().get("cancelled") == PREEMPTED)
        topics.send("done", SHORT)
        ends = {"replaced": PREEMPTED, "cancelled": PREEMPTED, "wrong": REJECTED, "done": SUCCEEDED}
        assert until(lambda: topics.ended() == ends)
        assert until(lambda: topics.told() == ends)
        assert len(topics.results) == 4


def test_a_goal_that_is_sent_twice_counts_once(master, robot):
    with robot(speed=1.0), spoken_to(master) as topics:
        topics.send("one", SHORT)
        topics.send("one", LONG)
        topics.send("wrong", SHORT, names=("no_joint", *JOINTS[1:]))  # goals come in order: both were heard by then
        assert until(lambda: topics.ended() == {"one": SUCCEEDED, "wrong": REJECTED})
        assert len(topics.results) == 2


def test_statuses_come_five_times_a_second_of_wall_time_however_fast_the_robot_is(master, robot):
    with robot(speed=20.0), spoken_to(master) as topics:
        assert until(lambda: topics.statuses)
        began, before = time.monotonic(), len(topics.statuses)
        assert until(lambda: len(topics.statuses) >= before + 10)
        # Twenty times as often would be 0.1 s. A busy machine makes it longer, or the first few come at once.
        assert time.monotonic() - began > 0.8


def test_feedback_says_how_far_the_arm_is_from_where_it_is_wanted(master, robot):
    with robot(speed=1.0), spoken_to(master) as topics:

        def halfway():
            return [one for one in topics.feedback if 0.2 < one.feedback.desired.time_from_start.to_sec() < 0.8]

        def swing():
            number, way = len(topics.results), 0.2 if len(topics.results) % 2 == 0 else 0.0
            topics.send(f"swing {number}", ((1.0, HOME + way),))
            assert until(lambda: topics.ended().get(f"swing {number}") == SUCCEEDED)
            return halfway()

        # On a busy machine messages come in bursts, some get lost, and the middle one may be of any moment.
        assert until(swing)
        over, heard = topics.results[-1].header.stamp, list(topics.feedback)
        assert until(lambda: (topics.statuses[-1].header.stamp - over).to_sec() > 0.3)
        assert all(one.header.stamp <= over for one in topics.feedback)  # silent when there is no goal
        told = halfway()[0].feedback
    assert tuple(told.joint_names) == JOINTS
    for one in heard:
        desired, actual, error = (
            np.array(part.positions) for part in (one.feedback.desired, one.feedback.actual, one.feedback.error)
        )
        np.testing.assert_allclose(error, actual - desired)
    desired, error = np.array(told.desired.positions), np.array(told.error.positions)
    assert ((desired > HOME) & (desired < HOME + 0.2)).all()
    assert 0 < np.abs(error).max() < 0.2


class TrajectoryAction:
    """What actionlib wants to know of an action."""

    def __init__(self):
        self.action_goal, self.action_result, self.action_feedback = (
            action_type("Goal")(),
            action_type("Result")(),
            action_type("Feedback")(),
        )


@pytest.fixture
def client(master):
    if find_ros() or find_spec("actionlib") is None:
        pytest.skip("there is no actionlib: apt-get install python3-actionlib")
    Graph(master, "tests")
    made = import_module("actionlib").SimpleActionClient(ACTION, TrajectoryAction)
    yield made
    made.action_client.stop()


def seconds(number):
    return import_module("rospy").Duration.from_sec(number)


def plain(points):
    return write_goal(Goal("", JOINTS, points, 0.0)).goal


def test_a_client_of_actionlib_is_served(robot, client):
    with robot(speed=1.0):
        assert client.wait_for_server(seconds(PATIENCE))
        heard = []
        client.send_goal(plain(SHORT), feedback_cb=heard.append)
        assert client.wait_for_result(seconds(PATIENCE))
        assert STATES[client.get_state()] == "SUCCEEDED"
        assert client.get_result().error_code == 0
        assert heard
        client.send_goal(plain(LONG))
        assert until(lambda: STATES[client.get_state()] == "ACTIVE")
        client.cancel_goal()
        assert client.wait_for_result(seconds(PATIENCE))
        assert STATES[client.get_state()] == "PREEMPTED"


def test_a_client_of_actionlib_is_served_by_a_fast_robot_without_delay(robot, client):
    with robot("--patience=5", speed=20.0):
        assert client.wait_for_server(seconds(PATIENCE))
        client.send_goal(plain(SHORT))
        assert client.wait_for_result(seconds(PATIENCE))
        assert STATES[client.get_state()] == "SUCCEEDED"
