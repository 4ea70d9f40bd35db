"""What a policy is shown of an observation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float

TIME = "+time"
"""Ends the names of layouts with a time feature."""
TIME_LEFT = 1.0
"""What RL Zoo's TimeFeatureWrapper shows of the time left when a policy is tested."""


def whole(observations: Float) -> Float:
    """All of it."""
    return observations


@dataclass(frozen=True)
class View:
    """The layout of one version of Gymnasium's environment."""

    name: str
    size: int
    see: Callable[[Float], Float] = whole
    """From observations (n, obs) to what the policy sees (n, size)."""
    lacks: str = ""
    """What this layout shows and the robot's observation does not have: a policy that sees it is refused."""

    @property
    def names(self) -> list[str]:
        """The versions that have this layout."""
        return self.name.split(" or ")

    @property
    def with_time(self) -> "View":
        """The same with the time feature that RL Zoo appends: while testing, it is a constant."""
        see = self.see

        def seen(observations: Float) -> Float:
            viewed = see(observations)
            return np.concatenate([viewed, np.full((len(viewed), 1), TIME_LEFT)], axis=1)

        return View(" or ".join(f"{name}{TIME}" for name in self.names), self.size + 1, seen, self.lacks)


def with_zeros(count: int) -> Callable[[Float], Float]:
    """All of it and so many zeros."""
    return lambda observations: np.concatenate([observations, np.zeros((len(observations), count))], axis=1)
