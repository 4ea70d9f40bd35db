"""The arm controller of a Fetch over ROS 1, as a driver: goals of its action, and its joint states."""

import itertools
import queue
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from isthmus.core import Float, Problem
from isthmus.hardware.clock import Clock, TopicClock, WallClock
from isthmus.hardware.driver import Commands, JointReading
from isthmus.hardware.priority import serve_first
from isthmus.hardware.ros1.action import CANCEL, GOAL, Goal, action_type, write_goal
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import Graph, master_answers, message, parameter, require_master
from isthmus.hardware.ros1.messages import CLOCK, JOINT_STATES, STOP, read_joints
from isthmus.hardware.stop import Stop


class Ros1Driver:
    """Goals of one point to `/arm_controller/follow_joint_trajectory`; a hold cancels all of them."""

    commands: Commands = "position"

    def __init__(self, address: Address, joints: Sequence[str]) -> None:
        """Talk to the robot on the graph at `address`."""
        self._address = address
        self.joints = tuple(joints)
        self._clock: TopicClock | WallClock | None = None
        self._readings: queue.SimpleQueue[JointReading] = queue.SimpleQueue()
        # An arm controller takes two goals of one name for the same one, though another process sent the first.
        self._name, self._goals = f"isthmus-{uuid4().hex[:8]}", itertools.count()
        self._topics: list[Any] = []

    @property
    def ready(self) -> bool:
        """Whether an arm controller has subscribed to our goals, and to our cancels, by which it is held."""
        return bool(self._topics and self._goal.get_num_connections() and self._cancel.get_num_connections())

    def connect(self, stop: Stop) -> Clock:
        """Join the graph, or register with a master again that was restarted and has forgotten us.

        A message on the stop topic asks for the `stop`.
        """
        if self._clock is None:
            require_master(self._address)
            simulated = bool(parameter(self._address, "/use_sim_time"))
            self._clock = TopicClock() if simulated else WallClock()
            if not simulated:
                serve_first()  # of this thread and of rospy's, which it starts
        elif not master_answers(self._address):
            raise Problem(f"there is no ROS master at {self._address}")  # rospy would ask it for ever
        self.close()
        self._open(Graph(self._address, "isthmus"), self._clock, stop)
        return self._clock

    def observe(self, patience: float) -> Sequence[JointReading]:
        """The joint states that came since the last call."""
        try:
            heard = [self._readings.get(timeout=patience)]
        except queue.Empty:
            return ()
        while not self._readings.empty():
            heard.append(self._readings.get_nowait())
        return heard

    def command(self, values: Float, seconds: float, now: float) -> None:
        """Send a goal of one point."""
        goal = Goal(f"{self._name}-{next(self._goals)}", self.joints, ((seconds, values),), now)
        self._goal.publish(write_goal(goal))

    def hold(self) -> None:
        """Cancel all goals: the arm controller holds where it is.

        No goal to the measured position is sent along with it: what is measured may be what is wrong.
        """
        if self._topics:
            self._cancel.publish(message("actionlib_msgs/GoalID")())

    def close(self) -> None:
        """Leave all topics; the process stays a node, since rospy allows one."""
        while self._topics:
            self._topics.pop().unregister()

    def _open(self, graph: Graph, clock: Clock, stop: Stop) -> None:
        self._goal = graph.publish(GOAL, action_type("Goal"))
        self._cancel = graph.publish(CANCEL, message("actionlib_msgs/GoalID"))
        self._topics = [
            self._goal,
            self._cancel,
            graph.subscribe(
                JOINT_STATES, message("sensor_msgs/JointState"), lambda heard: self._readings.put(read_joints(heard))
            ),
            graph.subscribe(STOP, message("std_msgs/Empty"), lambda _message: self._stop_by_topic(stop)),
        ]
        if isinstance(clock, TopicClock):
            self._topics.append(
                graph.subscribe(CLOCK, message("rosgraph_msgs/Clock"), lambda now: clock.set(now.clock.to_sec()))
            )

    def _stop_by_topic(self, stop: Stop) -> None:
        stop.ask(f"a message on {STOP}")
        self.hold()
