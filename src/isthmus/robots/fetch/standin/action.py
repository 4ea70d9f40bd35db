"""The arm controller's action on the ROS graph: it tells what becomes of each goal, and how the current one goes.

A message that nobody listens to is not even made: the controller has a millisecond for all that it does.
"""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from isthmus.hardware.ros1.action import (
    FEEDBACK,
    PREEMPTED,
    REJECTED,
    RESULT,
    STATUS,
    SUCCEEDED,
    SUCCESSFUL,
    Cancel,
    Goal,
    Motion,
    Status,
    write_feedback,
    write_result,
    write_statuses,
)
from isthmus.hardware.ros1.action_types import feedback_type, result_type
from isthmus.hardware.ros1.bindings import Graph, message
from isthmus.robots.fetch.arm import JOINTS
from isthmus.robots.fetch.standin.goals import Goals

STATUS_PERIOD = 0.2
"""Seconds of wall time between two tellings of all goals: an actionlib server's."""


class Action:
    """Follows goals by name; it moves nothing."""

    def __init__(self, graph: Graph, now: Callable[[], float]) -> None:
        """Serve the action from now on; `now` is the robot's time."""
        self._now, self._goals = now, Goals()
        self._began, self._unnamed = 0.0, itertools.count()
        self._results = graph.publish(RESULT, result_type())
        self._feedback = graph.publish(FEEDBACK, feedback_type())
        self._status = graph.publish(STATUS, message("actionlib_msgs/GoalStatusArray"))
        threading.Thread(target=self._tell_statuses, name="goal status", daemon=True).start()

    @property
    def watched(self) -> bool:
        """Whether somebody wants to hear how the current goal goes."""
        return self._goals.current is not None and self._feedback.get_num_connections() > 0

    def named(self, goal: Goal) -> Goal | None:
        """The goal with a name and a time of its own; None for one that was sent twice, which counts once."""
        identity = goal.identity or f"/fetch-{next(self._unnamed)}-{self._now():.3f}"
        if self._goals.knows(identity):
            return None
        return replace(goal, identity=identity, stamp=goal.stamp or self._now())

    def begin(self, goal: Goal) -> None:
        """Be after a goal, and no longer after the one before."""
        self._end(PREEMPTED, "Trajectory preempted")
        self._goals.begin(goal)
        self._began = self._now()

    def refuse(self, goal: Goal, code: int, why: str) -> None:
        """Tell that a goal cannot be followed; the arm stays after the one that it has."""
        self._tell(self._goals.refuse(goal, REJECTED, why), code)

    def succeed(self) -> None:
        """The current goal, if any, has come to its end."""
        self._end(SUCCEEDED, "Trajectory succeeded.")

    def cancel(self, cancel: Cancel) -> bool:
        """Give up the current goal where it is meant; whether the arm is to hold."""
        current = self._goals.current
        if current is None or not cancel.concerns(current.identity, current.stamp):
            return cancel.everything
        self._end(PREEMPTED, "Trajectory preempted")
        return True

    def tell_feedback(self, desired: Motion, actual: Motion) -> None:
        """How the current goal goes."""
        if self._goals.current is not None:
            now = self._now()
            since = max(now - self._began, 0.0)
            self._feedback.publish(write_feedback(self._goals.current, JOINTS, desired, actual, since, now))

    def _end(self, state: int, text: str) -> None:
        ended = self._goals.end(state, text)
        if ended is not None:
            self._tell(ended, SUCCESSFUL)

    def _tell(self, ended: Status, code: int) -> None:
        if self._results.get_num_connections():
            self._results.publish(write_result(ended, code, self._now()))

    def _tell_statuses(self) -> None:
        while True:
            if self._status.get_num_connections():
                self._status.publish(write_statuses(self._goals.statuses(), self._now()))
            time.sleep(STATUS_PERIOD)
