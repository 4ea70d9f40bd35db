"""One arm on a ROS graph: what it says, and what it is sent."""

import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from isthmus.core import Float, Problem
from isthmus.hardware.clock import Clock, TopicClock, WallClock
from isthmus.hardware.guard import Unsafe
from isthmus.hardware.readings import ReadingCheck
from isthmus.hardware.ros1.action import CANCEL, GOAL, Goal, action_type, write_goal
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import Graph, master_answers, message, parameter, require_master
from isthmus.hardware.ros1.listener import Heard, Listener, Traffic
from isthmus.hardware.ros1.messages import CLOCK, JOINT_STATES, STOP, read_joints
from isthmus.hardware.ros1.priority import serve_first
from isthmus.hardware.stop import Stop

Points = Sequence[tuple[float, Float]]
"""Seconds from now, and joint positions (act,)."""


class RosArmLink:
    """The arm controller of a Fetch, and its joint states."""

    def __init__(
        self, address: Address, joints: Sequence[str], stop: Stop | None = None, check: ReadingCheck | None = None
    ) -> None:
        """Join the graph at `address`, and listen; anybody may ask for the `stop`.

        With a `check`, readings that cannot be true are left out.
        """
        self._address, self._joints, self._stop = address, tuple(joints), stop or Stop()
        simulated = bool(self._stop.during(self._find_clock))
        if not simulated:
            serve_first()
        self._graph = Graph(address, "isthmus")
        self._last_sent = TopicClock() if simulated else None
        self._wall = WallClock()
        self._clock: Clock = self._last_sent or self._wall
        self._listener = Listener(self._joints, check, dated_by_us=not simulated)
        self._gate = threading.Lock()
        self._held = True
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
        return self._last_sent is not None

    @property
    def traffic(self) -> Traffic:
        """What came over the wire."""
        return self._listener.traffic

    @property
    def stop(self) -> Stop:
        """The emergency stop."""
        return self._stop

    @property
    def ahead(self) -> float:
        """Seconds that the robot's clock is ahead of ours, as far as that is known."""
        return self._listener.offset.ahead or 0.0

    @property
    def fault(self) -> str:
        """What is wrong with the robot's clock, or with the last readings, none of which was of use."""
        return self._listener.fault

    @property
    def connected(self) -> bool:
        """Whether an arm controller has subscribed to our goals."""
        return self._goal.get_num_connections() > 0

    @property
    def held(self) -> bool:
        """Whether nothing is sent to the arm: it received the hold, or never released."""
        return self._held

    def meet(self, patience: float) -> bool:
        """Listen until the robot's clock is known, for `patience` seconds at most; whether it is.

        Raises `Problem` if it is too far from ours.
        """
        end = time.monotonic() + patience
        while self._last_sent is None and self._listener.offset.ahead is None:
            if time.monotonic() > end or self._stop.wait(0.01):
                return False
        if wrong := self._listener.offset.fault:
            self.close()
            raise Problem(wrong)
        return True

    def heard(self) -> Heard | None:
        """The latest news."""
        return self._listener.heard

    def send(self, points: Points) -> float:
        """Send the arm along points; returns the time from which they count. Raises `Unsafe` while the arm is held.

        A hold and a goal cannot cross: whoever comes second finds out.
        """
        goal = Goal(f"{self._name}-{next(self._goals)}", self._joints, tuple(points), self._clock.now())
        written = write_goal(goal)
        with self._gate:
            if self._held or self._stop.asked:
                raise Unsafe("the arm is held")
            self._goal.publish(written)
        return goal.stamp

    def hold(self) -> None:
        """Cancel all goals: the arm controller holds where it is. Nothing is sent until the arm is released.

        No goal to the measured position is sent along with it: what is measured may be what is wrong.
        """
        self._held = True
        mine = self._gate.acquire(timeout=0.02)  # a goal that is being sent goes first; one that is stuck does not
        try:
            self._cancel.publish(message("actionlib_msgs/GoalID")())
        finally:
            if mine:
                self._gate.release()

    def release(self) -> None:
        """Let the arm be sent somewhere again; what the clocks have drifted apart by then is taken over."""
        self._listener.follow_clock()
        self._held = False

    def reconnect(self) -> None:
        """Register with the master again: one that was restarted has forgotten us, and would not tell the robot."""
        if not master_answers(self._address):
            return  # rospy would ask it for ever
        self._close_topics()
        self._listener.forget()
        self._open()

    def close(self) -> None:
        """Leave the arm holding, and hang up."""
        for _ in range(3):
            self.hold()
            time.sleep(0.02)  # rospy sends from another thread
        self._close_topics()

    def _open(self) -> None:
        graph = self._graph
        self._goal = graph.publish(GOAL, action_type("Goal"))
        self._cancel = graph.publish(CANCEL, message("actionlib_msgs/GoalID"))
        self._topics: list[Any] = [
            graph.subscribe(JOINT_STATES, message("sensor_msgs/JointState"), self._hear),
            graph.subscribe(STOP, message("std_msgs/Empty"), lambda _message: self._stop_by_topic()),
        ]
        if self._last_sent is not None:
            sent = self._last_sent
            self._topics.append(
                graph.subscribe(CLOCK, message("rosgraph_msgs/Clock"), lambda now: sent.set(now.clock.to_sec()))
            )

    def _find_clock(self) -> bool:
        """Whether the robot has a clock of its own; a master that does not answer is asked for some seconds."""
        require_master(self._address)
        return bool(parameter(self._address, "/use_sim_time"))

    def _close_topics(self) -> None:
        for topic in (*self._topics, self._goal, self._cancel):
            topic.unregister()

    def _stop_by_topic(self) -> None:
        self._stop.ask(f"a message on {STOP}")
        self.hold()

    def _hear(self, received: Any) -> None:  # noqa: ANN401
        self._listener.take(read_joints(received), self._wall.now())
