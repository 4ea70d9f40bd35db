"""The arm controller's action on the ROS graph: it tells what becomes of each goal, and how the current one goes.

A message that nobody listens to is not even made: the controller has a millisecond for all that it does.
"""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.ros1.action import (
    ACTIVE,
    FEEDBACK,
    PREEMPTED,
    REJECTED,
    RESULT,
    STATUS,
    SUCCEEDED,
    SUCCESSFUL,
    Motion,
    Status,
    action_type,
    write_feedback,
    write_result,
    write_statuses,
)
from isthmus.hardware.ros1.bindings import Graph, message
from isthmus.robots.fetch.arm import JOINTS

KEPT = 5.0
"""Seconds of wall time for which a goal that has ended is still reported."""


class Goals:
    """One goal at a time; whoever tells of them may do so from another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is asked of the arm yet."""
        self._clock, self._lock = clock, threading.Lock()
        self._current: Status | None = None
        self._ended: dict[str, tuple[float, Status]] = {}  # in the order in which they did

    @property
    def current(self) -> Status | None:
        """The goal that the arm is after."""
        return self._current

    def knows(self, identity: str) -> bool:
        """Whether a goal of that identity is current, or ended a little ago."""
        return identity in self._ended or (self._current is not None and self._current.identity == identity)

    def begin(self, goal: Goal) -> None:
        """Be after a goal; the one before has to be ended first."""
        if self._current is not None:
            raise ValueError(f"goal {self._current.identity} is still current")
        self._current = Status(goal.identity, goal.stamp, ACTIVE)

    def end(self, state: int, text: str) -> Status | None:
        """The current goal as it ended; None where there is none."""
        if self._current is None:
            return None
        ended = replace(self._current, state=state, text=text)
        with self._lock:
            self._current = None
            self._keep(ended)
        return ended

    def refuse(self, goal: Goal, state: int, text: str) -> Status:
        """A goal that never becomes current."""
        refused = Status(goal.identity, goal.stamp, state, text)
        with self._lock:
            self._keep(refused)
        return refused

    def statuses(self) -> list[Status]:
        """All that are reported, the current one last."""
        with self._lock:
            self._forget()
            current = () if self._current is None else (self._current,)
            return [*(status for _, status in self._ended.values()), *current]

    def _keep(self, status: Status) -> None:
        self._forget()
        self._ended[status.identity] = (self._clock(), status)

    def _forget(self) -> None:
        oldest = self._clock() - KEPT
        while self._ended and next(iter(self._ended.values()))[0] < oldest:
            del self._ended[next(iter(self._ended))]


class Reports(Protocol):
    """Who is told what becomes of goals."""

    @property
    def watched(self) -> bool:
        """Whether somebody wants to hear how the current goal goes."""
        ...

    def named(self, goal: Goal) -> Goal | None:
        """The goal with a name and a time of its own; None for one that was sent twice, which counts once."""
        ...

    def begin(self, goal: Goal) -> None:
        """The arm is after a goal from now on."""
        ...

    def refuse(self, goal: Goal, code: int, why: str) -> None:
        """A goal cannot be followed."""
        ...

    def succeed(self) -> None:
        """The current goal has come to its end."""
        ...

    def cancel(self, cancel: Cancel) -> bool:
        """Give up the current goal where it is meant; whether the arm is to hold."""
        ...

    def tell_feedback(self, desired: Motion, actual: Motion) -> None:
        """How the current goal goes."""
        ...


class Unreported:
    """Nobody is told: a topic of trajectories has no answers."""

    watched = False

    def named(self, goal: Goal) -> Goal | None:
        """The goal as it is."""
        return goal

    def begin(self, goal: Goal) -> None:
        """Tell nobody."""

    def refuse(self, goal: Goal, code: int, why: str) -> None:
        """Tell nobody."""

    def succeed(self) -> None:
        """Tell nobody."""

    def cancel(self, cancel: Cancel) -> bool:
        """Every cancel here is of everything."""
        return cancel.everything

    def tell_feedback(self, desired: Motion, actual: Motion) -> None:
        """Tell nobody."""


STATUS_PERIOD = 0.2
"""Seconds of wall time between two tellings of all goals: an actionlib server's."""


class Action:
    """Follows goals by name; it moves nothing."""

    def __init__(self, graph: Graph, now: Callable[[], float]) -> None:
        """Serve the action from now on; `now` is the robot's time."""
        self._now, self._goals = now, Goals()
        self._began, self._unnamed = 0.0, itertools.count()
        self._results = graph.publish(RESULT, action_type("Result"))
        self._feedback = graph.publish(FEEDBACK, action_type("Feedback"))
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
