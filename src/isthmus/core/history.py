"""The paper's tau: the last k observations and the k-1 actions between them."""

from dataclasses import dataclass

import numpy as np

from isthmus.core.arrays import Bool, Float
from isthmus.core.spec import WorldSpec

BATCH_DIMENSIONS = 3


@dataclass(frozen=True, slots=True)
class History:
    """A window on the recent past of n worlds, oldest first."""

    observations: Float  # (n, k, obs)
    actions: Float
    """(n, k-1, act): the commands that were given between the observations."""

    def __post_init__(self) -> None:
        """Refuse windows whose parts do not fit together."""
        if self.observations.ndim != BATCH_DIMENSIONS or self.actions.ndim != BATCH_DIMENSIONS:
            raise ValueError(
                f"a history needs (n, k, obs) and (n, k-1, act), got {self.observations.shape} and {self.actions.shape}"
            )
        n, k, _ = self.observations.shape
        if k < 1 or self.actions.shape[:2] != (n, k - 1):
            raise ValueError(
                f"{k} observations of {n} worlds need ({n}, {k - 1}, act) actions, got {self.actions.shape}"
            )

    @staticmethod
    def of(observations: Float) -> "History":
        """A history of one observation (n, obs) and no action."""
        return History(observations[:, None], np.empty((observations.shape[0], 0, 0)))

    @property
    def length(self) -> int:
        """How many observations are in the window: k."""
        return self.observations.shape[1]

    @property
    def current(self) -> Float:
        """The latest observation (n, obs)."""
        return self.observations[:, -1]

    def last(self, k: int) -> "History":
        """The latest k observations and k-1 actions of this window."""
        if k == self.length:
            return self
        if not 1 <= k < self.length:
            raise ValueError(f"a history of {self.length} observations cannot give the last {k}")
        start = self.length - k
        return History(self.observations[:, start:], self.actions[:, start:])


class HistoryBuffer:
    """Keeps the windows of n running worlds.

    Before there is enough past, the first observation is repeated and its actions are zero: windows cut from
    recorded trajectories (`isthmus.adapt.inverse_network.windows`) begin in the same way.
    """

    def __init__(self, spec: WorldSpec, n: int, k: int) -> None:
        """Make room for n windows of k observations."""
        self.window = _read_only(np.zeros((n, k, spec.observation_size)), np.zeros((n, k - 1, spec.action_size)))
        """The present windows. They stay as they are: the next step makes others."""

    def begin(self, observations: Float, which: Bool | None = None) -> None:
        """Start anew at `observations` (n, obs), in the worlds `which` (all by default)."""
        rows = slice(None) if which is None else which
        seen, done = self.window.observations.copy(), self.window.actions.copy()
        seen[rows], done[rows] = observations[rows, None], 0.0
        self.window = _read_only(seen, done)

    def append(self, actions: Float, observations: Float) -> None:
        """Move on by one step: the commands given (n, act) and what was seen then (n, obs)."""
        seen, done = self.window.observations, self.window.actions
        if self.window.length > 1:
            done = np.concatenate((done[:, 1:], actions[:, None]), axis=1)
        seen = np.concatenate((seen[:, 1:], observations[:, None]), axis=1)
        self.window = _read_only(seen, done)


def _read_only(observations: Float, actions: Float) -> History:
    observations.flags.writeable = actions.flags.writeable = False
    return History(observations, actions)
