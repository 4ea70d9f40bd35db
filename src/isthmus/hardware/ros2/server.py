"""The robot's end in ROS 2: what a joint state broadcaster and a controller of ros2_control do there."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isthmus.core import Float
from isthmus.hardware.driver import Commands, JointReading
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.ros2 import messages
from isthmus.hardware.ros2.address import TOPICS, Ros2Address
from isthmus.hardware.ros2.bus import Bus, Publisher, Subscription
from isthmus.hardware.server import Hear

LISTEN = 0.1
"""Seconds after which whoever listens looks up."""
AT_ONCE = 0.0
"""Seconds in which a plain command is to be reached: it does not say."""


class Ros2Server:
    """Publishes joint states, and takes trajectories or plain numbers."""

    def __init__(self, address: Ros2Address, joints: Sequence[str], commands: Commands = "position") -> None:
        """Be the controller at `address`, of `joints`."""
        self._bus, self._address, self._joints = Bus(address), address, tuple(joints)
        topic = address.topic(commands)
        self._plain = topic.rpartition("/")[2] == TOPICS["effort"]
        kind = messages.Float64MultiArray if self._plain else messages.JointTrajectory
        self._commands: Subscription[Any] = self._bus.subscribe(topic, kind, reliable=True)
        self._holds = self._bus.subscribe(messages.HOLD, messages.Empty, reliable=True)
        self._speeds = self._bus.subscribe(messages.SPEED, messages.Float64, reliable=True)
        self._clock: Publisher[messages.Clock] | None = None
        self._states: Publisher[messages.JointState] | None = None
        self._over = threading.Event()

    def open(self, hear: Hear, be_fast: Callable[[float], None], *, simulated: bool) -> None:
        """Publish from now on; the clock first, so that whoever finds the joint states has found it too."""
        self._hear, self._be_fast = hear, be_fast
        self.go_simulated(simulated=simulated)
        self._states = self._bus.publish(self._address.joint_states, messages.JointState)
        self._thread = threading.Thread(target=self._listen, name="commands", daemon=True)
        self._thread.start()

    def go_simulated(self, *, simulated: bool) -> None:
        """Publish a clock, or no longer."""
        if simulated and self._clock is None:
            self._clock = self._bus.publish(messages.CLOCK, messages.Clock)
        elif not simulated and self._clock is not None:
            self._clock.close()
            self._clock = None

    def tell_joints(self, reading: JointReading, efforts: Float) -> None:
        """Publish a joint state."""
        if self._states is not None:
            self._states.send(messages.write_joints(reading, efforts))

    def tell_time(self, now: float) -> None:
        """Publish the clock."""
        if self._clock is not None:
            self._clock.send(messages.Clock(messages.as_time(now)))

    def close(self) -> None:
        """Leave the domain's topics."""
        self._over.set()
        self._thread.join(1.0)
        for one in (self._commands, self._holds, self._speeds, self._states, self._clock):
            if one is not None:
                one.close()

    def _listen(self) -> None:
        wait = self._bus.waiter((self._commands, self._holds, self._speeds))
        while not self._over.is_set():
            if not wait(LISTEN):
                continue
            # First: a command that was sent before a hold is here by the time that the hold is.
            holds = self._holds.take()
            for received in self._commands.take():
                self._hear(self._order(received))
            for _ in holds:
                self._hear(Cancel())
            for received in self._speeds.take():
                self._be_fast(float(received.data))

    def _order(self, received: Any) -> Goal | Cancel:  # noqa: ANN401 - of the kind that the topic has
        if self._plain:
            return Goal("", self._joints, ((AT_ONCE, np.array(received.data, dtype=np.float64)),), 0.0)
        if not received.points:
            return Cancel()
        points = tuple(
            (messages.seconds(point.time_from_start), np.array(point.positions, dtype=np.float64))
            for point in received.points
        )
        return Goal("", tuple(received.joint_names), points, messages.seconds(received.header.stamp))
