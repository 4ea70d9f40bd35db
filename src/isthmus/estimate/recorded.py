"""What was recorded of a target, as arrays that a filter runs over, and the simulator linearised along it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Episode, Float, Int, Trajectory
from isthmus.estimate.filter import Filter
from isthmus.estimate.kalman import KalmanFilter
from isthmus.estimate.linearised import Linearised


def runs_of(episodes: Sequence[Episode], most: int | None = None) -> list[Trajectory]:
    """The whole runs among episodes, the latest first, until there are `most` steps."""
    runs = [one for episode in reversed(episodes) for one in episode if not one.context]
    if most is None:
        return runs
    ends = np.cumsum([len(run) for run in runs])
    return runs[: 1 + int(np.searchsorted(ends, most))]


@dataclass(frozen=True)
class Recording:
    """n runs side by side; the last values of shorter ones are repeated to the end."""

    sensed: Float  # (n, T+1, obs)
    applied: Float  # (n, T, act)
    steps: Int
    """Of each run (n,)."""

    @staticmethod
    def of(runs: Sequence[Trajectory]) -> "Recording":
        """Side by side."""
        longest = max(len(run) for run in runs)

        def fill(values: Float, length: int) -> Float:
            return np.concatenate((values, np.repeat(values[-1:], length - len(values), axis=0)))

        return Recording(
            np.stack([fill(run.observations, longest + 1) for run in runs]),
            np.stack([fill(run.applied, longest) for run in runs]),
            np.array([len(run) for run in runs]),
        )

    def acting(self, delay: int) -> Float:
        """The actions (n, T, act) that the sensors show the effect of, which lag so many steps behind."""
        if not delay:
            return self.applied
        late = np.zeros_like(self.applied)
        late[:, delay:] = self.applied[:, :-delay]
        return late

    def estimates(self, one: Filter) -> Float:
        """What a filter makes of it (n, T+1, obs)."""
        state, found = one.initial_state(len(self.steps)), list[Float]()
        for t in range(self.sensed.shape[1]):
            estimate, state = one.update(state, self.sensed[:, t], self.applied[:, max(t - 1, 0)])
            found.append(estimate)
        return np.stack(found, axis=1)

    def linearised(self, one: KalmanFilter) -> list[Linearised]:
        """What the simulator of a filter does around its estimates, in each of the T steps."""
        state, found = one.initial_state(len(self.steps)), list[Linearised]()
        _, state = one.update(state, self.sensed[:, 0], self.applied[:, 0])
        for t in range(self.applied.shape[1]):
            found.append(one.around(state, self.applied[:, t]))
            _, state = one.watched(state, self.sensed[:, t + 1], self.applied[:, t], found[-1])
        return found
