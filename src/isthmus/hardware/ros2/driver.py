"""A robot on ROS 2, as a driver: joint states, and commands to a controller of ros2_control or one that is like it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isthmus.core import Float, Problem
from isthmus.hardware.clock import Clock, TopicClock, WallClock
from isthmus.hardware.driver import Commands, JointReading
from isthmus.hardware.priority import serve_first
from isthmus.hardware.ros2 import messages
from isthmus.hardware.ros2.address import TOPICS, Ros2Address
from isthmus.hardware.ros2.bus import Bus, Publisher, Subscription, found
from isthmus.hardware.stop import Stop

PATIENCE = 5.0
"""Seconds in which a robot must be found in its domain."""


class Ros2Driver:
    """Commands as trajectories of one point, or as plain numbers where the controller's topic is `commands`.

    A hold is a trajectory without points, which ends the one before it where the controller knows that; controllers of
    ros2_control ignore it, and come to rest at the end of the one they have, a control period later. Plain efforts are
    ended by zeros. Every hold is told on `/isthmus/hold` besides, for controllers of one's own.
    """

    def __init__(self, address: Ros2Address, joints: Sequence[str], commands: Commands = "position") -> None:
        """Talk to the controller at `address`."""
        self._address = address
        self.joints = tuple(joints)
        self.commands: Commands = commands
        self._topic = address.topic(commands)
        self._plain = self._topic.rpartition("/")[2] == TOPICS["effort"]
        if commands == "effort" and not self._plain:
            raise Problem(f"{self._topic} takes positions: efforts go to a controller's topic {TOPICS['effort']!r}")
        self._clock: TopicClock | WallClock | None = None
        self._later: float | None = None
        self._open: list[Publisher[Any] | Subscription[Any]] = []
        self._command: Publisher[Any] | None = None
        self._sending = threading.Lock()  # a writer of DDS may be used by one thread at a time

    @property
    def ready(self) -> bool:
        """Whether a controller listens to our commands."""
        command = self._command
        return command is not None and command.listeners > 0

    def connect(self, stop: Stop) -> Clock:
        """Find the robot in its domain; a message on the stop topic asks for the `stop`."""
        if self._clock is None:
            serve_first()  # of this thread and of those of DDS, which it starts
        bus = Bus(self._address)
        self.close()
        self._joint_states = bus.subscribe(self._address.joint_states, messages.JointState)
        self._stops = bus.subscribe(messages.STOP, messages.Empty)
        self._times = bus.subscribe(messages.CLOCK, messages.Clock)
        self._hold = bus.publish(messages.HOLD, messages.Empty)
        kind = messages.Float64MultiArray if self._plain else messages.JointTrajectory
        self._command = bus.publish(self._topic, kind, depth=1)  # of commands that wait, only the last is of use
        self._open = [self._joint_states, self._stops, self._times, self._hold, self._command]
        self._wait: Callable[[float], bool] = bus.waiter((self._joint_states, self._stops, self._times))
        self._stop = stop
        if not found(lambda: self._joint_states.publishers, PATIENCE):
            raise Problem(self._nobody())
        if self._clock is None:  # a stand-in whose time is its own is found by its clock, which it publishes first
            self._clock = TopicClock() if self._times.publishers else WallClock()
        return self._clock

    def observe(self, patience: float) -> Sequence[JointReading]:
        """The joint states that came since the last call."""
        if self._later is not None and isinstance(self._clock, TopicClock):
            self._clock.set(self._later)  # now that the readings of that time have been taken in
            self._later = None
        if not self._wait(patience):
            return ()
        if self._stops.take():
            self._stop.ask(f"a message on {messages.STOP}")
            self.hold()
        times = self._times.take()
        heard = [messages.read_joints(one) for one in self._joint_states.take()]
        if times:
            self._later = messages.seconds(times[-1].clock)
        return heard

    def command(self, values: Float, seconds: float, now: float) -> None:
        """Send a trajectory of one point, or the values as they are."""
        if self._plain:
            self._send(messages.Float64MultiArray(data=values.tolist()))
        else:
            # In real time it begins when it arrives, whatever the clocks of both machines say.
            stamp = now if isinstance(self._clock, TopicClock) else 0.0
            self._send(messages.write_goal(self.joints, values, seconds, stamp))

    def hold(self) -> None:
        """End what the robot is doing; no measured position is sent, since that may be what is wrong."""
        if not self._plain:
            self._send(messages.JointTrajectory(joint_names=list(self.joints)))
        elif self.commands == "effort":
            self._send(messages.Float64MultiArray(data=np.zeros(len(self.joints)).tolist()))
        self._hold.send(messages.Empty())

    def close(self) -> None:
        """Leave all topics."""
        while self._open:
            self._open.pop().close()

    def _send(self, message: Any) -> None:  # noqa: ANN401 - of the kind that the topic has
        if self._command is not None:
            with self._sending:
                self._command.send(message)

    def _nobody(self) -> str:
        where = f" on {self._address.interface}" if self._address.interface else ""
        return (
            f"nobody publishes {self._address.joint_states} in ROS 2 domain {self._address.domain}{where}: start the "
            "robot (or a stand-in with `isthmus robot up fetch --address ros2://...`), and give its ROS_DOMAIN_ID and "
            "the network interface that both share"
        )
