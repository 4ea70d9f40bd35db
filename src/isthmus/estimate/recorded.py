"""What was recorded of a target, as arrays that a filter runs over, and the simulator linearised along it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Episode, Float, Int, Simulator, Trajectory
from isthmus.estimate.filter import Filter
from isthmus.estimate.kalman import Linearised, linearised


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

    def linearised(self, simulator: Simulator, reference: Float, delay: int) -> list[Linearised]:
        """The simulator's steps around a `reference` (n, T+1, obs), each of the n runs."""
        n, steps, act = self.applied.shape
        size = reference.shape[2]
        flat = linearised(simulator, reference[:, :-1].reshape(-1, size), self.acting(delay).reshape(-1, act))
        shape = n, steps
        return [
            Linearised(
                flat.reference.reshape(*shape, size)[:, t],
                flat.ahead.reshape(*shape, size)[:, t],
                flat.change.reshape(*shape, size, size)[:, t],
            )
            for t in range(steps)
        ]
