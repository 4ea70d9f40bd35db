"""Single steps of a robot, out of their order: what physics is estimated from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Episode, Float

HELD_OUT = 5
"""Every so-manieth episode is not fitted to."""


def holdout_split(episodes: Sequence[Episode]) -> tuple[list[Episode], list[Episode]]:
    """Episodes to fit to, and others to see how good the fit is; a single one must serve for both."""
    apart = [episode for number, episode in enumerate(episodes) if number % HELD_OUT == 1]
    kept = [episode for number, episode in enumerate(episodes) if number % HELD_OUT != 1]
    return kept, apart or kept


@dataclass(frozen=True)
class Transitions:
    """n steps: where they began, what was applied, and where they led."""

    before: Float  # (n, obs)
    actions: Float  # (n, act)
    after: Float  # (n, obs)

    @staticmethod
    def of(episodes: Sequence[Episode]) -> "Transitions":
        """All steps that were taken to be learned from."""
        runs = [one for episode in episodes for one in episode]
        return Transitions(
            np.concatenate([one.observations[one.context : -1] for one in runs]),
            np.concatenate([one.applied[one.context :] for one in runs]),
            np.concatenate([one.observations[one.context + 1 :] for one in runs]),
        )

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.actions)

    def thinned(self, most: int) -> "Transitions":
        """At most so many of them, evenly spaced."""
        if len(self) <= most:
            return self
        rows = np.linspace(0, len(self) - 1, most).astype(np.int64)
        return Transitions(self.before[rows], self.actions[rows], self.after[rows])
