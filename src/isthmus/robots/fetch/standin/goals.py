"""The arm controller's book of goals, as actionlib keeps it: the current one, and those that ended a little ago."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from isthmus.hardware.ros1.action import ACTIVE, Goal, Status

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
