"""The policy that does nothing: the zero of every normalised score."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, History


@dataclass(frozen=True)
class ZeroPolicy:
    """Always the zero action."""

    action_size: int

    def __call__(self, history: History) -> Float:
        """Zeros (n, act)."""
        return np.zeros((len(history.observations), self.action_size))
