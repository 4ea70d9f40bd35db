"""A filter in the Estimator stage of a target."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from isthmus.core import Episode, Float, PolicyState, Rows, Trajectory
from isthmus.core.policy_state import reset_rows
from isthmus.estimate.filter import Filter


class FilterStage:
    """An `Estimator`: it keeps the states of a filter for n robots, and a record of what their sensors showed.

    When all robots begin a new episode, the filter is the one that `current` returns then.
    """

    def __init__(self, current: Callable[[], Filter], n: int, actions: int) -> None:
        """Filter for n robots, which take so many numbers as an action."""
        self._current, self._n, self._actions = current, n, actions
        self._use(current())
        self._record: list[list[Float]] = [[] for _ in range(n)]

    def begin(self, sensed: Float, rows: Rows) -> Float:
        """Start new episodes in `rows`, whose sensors show `sensed` (m, obs)."""
        mask = np.zeros(self._n, np.bool_)
        mask[rows] = True
        current = self._current()
        if mask.all() and current is not self._filter:
            self._use(current)
        self._state = reset_rows(self._state, self._initial, mask)
        for row in np.flatnonzero(mask):
            self._record[row] = []
        return self._update(sensed, np.zeros((len(sensed), self._actions)), rows)

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        """Estimates (m, obs) of `rows` after `applied` (m, act)."""
        return self._update(sensed, applied, rows)

    def sensed(self, wave: Sequence[Episode]) -> list[Episode]:
        """The episodes of a wave, one a robot, with what the sensors showed in place of the estimates."""
        return [[_shown(one, self._record[robot]) for one in episode] for robot, episode in enumerate(wave)]

    def _use(self, one: Filter) -> None:
        self._filter = one
        self._initial = one.initial_state(self._n)
        self._state: PolicyState = self._initial

    def _update(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        for row, shown in zip(np.arange(self._n)[rows], sensed, strict=True):
            self._record[row].append(shown.copy())
        if isinstance(rows, slice) and rows == slice(None):
            estimate, self._state = self._filter.update(self._state, sensed, applied)
            return estimate
        part = {name: array[rows] for name, array in self._state.items()}
        estimate, part = self._filter.update(part, sensed, applied)
        whole = {name: array.copy() for name, array in self._state.items()}
        for name, array in part.items():
            whole[name][rows] = array
        self._state = whole
        return estimate


def _shown(run: Trajectory, record: list[Float]) -> Trajectory:
    """A run with what its robot's sensors showed."""
    return replace(run, observations=np.stack(record[: len(run) + 1]))
