"""One arm on a ROS graph: what it says, and what it is told."""

import itertools
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from isthmus.core import Float
from isthmus.hardware.clock import Clock, TopicClock, WallClock
from isthmus.ros.action import CANCEL, GOAL, Goal, write_goal
from isthmus.ros.action_types import goal_type
from isthmus.ros.address import Address
from isthmus.ros.bindings import Graph, master_answers, message, parameter, require_master
from isthmus.ros.messages import CLOCK, JOINT_STATES, STOP, columns, read_joints
from isthmus.ros.priority import serve_first

Points = Sequence[tuple[float, Float]]
"""Seconds from now, and joint positions (act,)."""


@dataclass(frozen=True)
class Heard:
    """The latest that is known of the arm."""

    stamp: float
    """When it was measured, by the robot's clock."""
    positions: Float
    """In our order of the joints (act,)."""
    velocities: Float


@dataclass
class Traffic:
    """What came over the wire, and what of it was of no use."""

    received: int = 0
    disordered: int = 0
    """Older than what was there already."""
    broken: int = 0
    """Not finite, or too short."""
    foreign: int = 0
    """Without our joints: other parts of a robot speak on the same topic."""

    def to_json(self) -> dict[str, int]:
        """As plain data."""
        return dict(vars(self))


class ArmLink(Protocol):
    """What a world needs of an arm."""

    @property
    def clock(self) -> Clock:
        """The robot's time."""
        ...

    @property
    def traffic(self) -> Traffic:
        """What came over the wire."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether somebody asked for an emergency stop."""
        ...

    @property
    def connected(self) -> bool:
        """Whether somebody takes our commands."""
        ...

    def heard(self) -> Heard | None:
        """The latest news."""
        ...

    def send(self, points: Points) -> float:
        """Send the arm along points; returns the time from which they count."""
        ...

    def hold(self) -> None:
        """Have the arm stay where it is."""
        ...

    def reconnect(self) -> None:
        """Look for the arm anew."""
        ...

    def close(self) -> None:
        """Leave the arm holding, and hang up."""
        ...


class RosArmLink:
    """The arm controller of a Fetch, and its joint states."""

    def __init__(self, address: Address, joints: Sequence[str], stop: threading.Event | None = None) -> None:
        """Join the graph at `address`, and listen; `stop` may be set by anybody."""
        self._address, self._joints = address, tuple(joints)
        require_master(address)
        simulated = bool(parameter(address, "/use_sim_time"))
        if not simulated:
            serve_first()
        self._graph = Graph(address, "isthmus")
        self._told = TopicClock() if simulated else None
        self._clock: Clock = self._told or WallClock()
        self._traffic = Traffic()
        self._lock = threading.Lock()
        self._heard: Heard | None = None
        self._stop = stop or threading.Event()
        # An arm controller takes two goals of one name for the same one, though another process sent the first.
        self._name, self._goals = f"isthmus-{uuid4().hex[:8]}", itertools.count()
        self._open()

    @property
    def clock(self) -> Clock:
        """The robot's time."""
        return self._clock

    @property
    def simulated(self) -> bool:
        """Whether the robot has a clock of its own."""
        return self._told is not None

    @property
    def traffic(self) -> Traffic:
        """What came over the wire."""
        return self._traffic

    @property
    def stopped(self) -> bool:
        """Whether somebody published on the stop topic, or set the flag."""
        return self._stop.is_set()

    @property
    def connected(self) -> bool:
        """Whether an arm controller has subscribed to our goals."""
        return self._goal.get_num_connections() > 0

    def stop(self) -> None:
        """Emergency: hold now, and take no more commands."""
        self._stop.set()
        self.hold()

    def heard(self) -> Heard | None:
        """The latest news."""
        with self._lock:
            return self._heard

    def send(self, points: Points) -> float:
        """Send the arm along points; returns the time from which they count."""
        goal = Goal(f"{self._name}-{next(self._goals)}", self._joints, tuple(points), self._clock.now())
        self._goal.publish(write_goal(goal))
        return goal.stamp

    def hold(self) -> None:
        """Cancel all goals: the arm controller holds where it is."""
        self._cancel.publish(message("actionlib_msgs/GoalID")())

    def reconnect(self) -> None:
        """Register with the master again: one that was restarted has forgotten us, and would not tell the robot."""
        if not master_answers(self._address):
            return  # rospy would ask it for ever
        self._close_topics()
        with self._lock:
            self._heard = None
        self._open()

    def close(self) -> None:
        """Leave the arm holding, and hang up."""
        self.hold()
        time.sleep(0.05)  # rospy sends from another thread
        self._close_topics()

    def _open(self) -> None:
        graph = self._graph
        self._goal = graph.publish(GOAL, goal_type())
        self._cancel = graph.publish(CANCEL, message("actionlib_msgs/GoalID"))
        self._topics: list[Any] = [
            graph.subscribe(JOINT_STATES, message("sensor_msgs/JointState"), self._hear),
            graph.subscribe(STOP, message("std_msgs/Empty"), lambda _message: self.stop()),
        ]
        if self._told is not None:
            told = self._told
            self._topics.append(
                graph.subscribe(CLOCK, message("rosgraph_msgs/Clock"), lambda now: told.set(now.clock.to_sec()))
            )

    def _close_topics(self) -> None:
        for topic in (*self._topics, self._goal, self._cancel):
            topic.unregister()

    def _hear(self, received: Any) -> None:  # noqa: ANN401
        reading = read_joints(received)
        where = columns(reading.names, self._joints)
        with self._lock:
            traffic = self._traffic
            traffic.received += 1
            if where is None:
                traffic.foreign += 1
                return
            if len(reading.names) != len(reading.positions):
                traffic.broken += 1
                return
            positions, velocities = reading.positions[where], reading.velocities[where]
            if not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
                traffic.broken += 1
                return
            if self._heard is not None and self._is_older(reading.stamp, self._heard):
                traffic.disordered += 1
                return
            self._heard = Heard(reading.stamp, positions, velocities)

    @staticmethod
    def _is_older(stamp: float, heard: Heard) -> bool:
        """Late messages are of no use; a stamp seconds before the last one is from a robot that began anew."""
        return heard.stamp - 1.0 < stamp <= heard.stamp
