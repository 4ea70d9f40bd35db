"""The robot's end in ROS 1: joint states, a clock, and the arm controller's action."""

from collections.abc import Callable, Iterable
from typing import Any

from isthmus.core import Float
from isthmus.hardware.driver import JointReading
from isthmus.hardware.goal import Goal
from isthmus.hardware.ros1.action import CANCEL, GOAL, action_type, read_cancel, read_goal, write_goal
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import Graph, message, set_parameter
from isthmus.hardware.ros1.cord import Tie, tell_cord
from isthmus.hardware.ros1.messages import CLOCK, JOINT_STATES, SPEED, write_clock, write_joints
from isthmus.hardware.server import Hear
from isthmus.robots.fetch.arm import JOINTS
from isthmus.robots.fetch.standin.action import Action


class Ros1Server:
    """A Fetch's topics on the graph of a ROS master."""

    def __init__(self, address: Address, now: Callable[[], float], ties: Iterable[Tie]) -> None:
        """Be on the graph at `address`, when opened; `now` is the robot's time, and `ties` where its cord is tied."""
        self._address, self._now, self._ties = address, now, tuple(ties)
        self._joints: Any = None

    @property
    def action(self) -> Action:
        """The arm controller's action; there once this is open."""
        return self._action

    def open(self, hear: Hear, be_fast: Callable[[float], None], *, simulated: bool) -> None:
        """Join the graph; whoever finds a robot may ask at once what time it goes by."""
        self.go_simulated(simulated=simulated)
        graph = Graph(self._address, "fetch")
        self._joints = graph.publish(JOINT_STATES, message("sensor_msgs/JointState"))
        self._clock = graph.publish(CLOCK, message("rosgraph_msgs/Clock"))
        self._action = Action(graph, self._now)
        tell_cord(graph, self._ties)
        graph.subscribe(GOAL, action_type("Goal"), lambda received: hear(read_goal(received)))
        graph.subscribe(CANCEL, message("actionlib_msgs/GoalID"), lambda received: hear(read_cancel(received)))
        graph.subscribe(SPEED, message("std_msgs/Float64"), lambda received: be_fast(float(received.data)))
        # What genpy builds on first use takes a while: better now than in the first swing.
        write_goal(Goal("", JOINTS, (), 0.0))

    def go_simulated(self, *, simulated: bool) -> None:
        """Set the graph's parameter."""
        set_parameter(self._address, "/use_sim_time", simulated)

    def tell_joints(self, reading: JointReading, efforts: Float) -> None:
        """Publish a joint state."""
        self._joints.publish(write_joints(reading, efforts))

    def tell_time(self, now: float) -> None:
        """Publish the clock."""
        self._clock.publish(write_clock(now))

    def close(self) -> None:
        """Stay: a node ends with its process."""
