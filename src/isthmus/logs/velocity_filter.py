"""Velocities where a log has none: one causal filter, for the log and for the simulation that is compared with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.signal import lfilter  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float, Problem

CUTOFF = 20.0
"""Hz, where a log does not ask for another."""


@dataclass(frozen=True)
class VelocityFilter:
    """Backward difference and first-order low-pass: v[k] = a v[k-1] + (1 - a) (q[k] - q[k-1]) / dt.

    It delays and smooths. A simulated velocity can be compared with its result only after the same filter: pass the
    simulated positions at the same rate through `velocities`, or each one through `step`.
    """

    dt: float
    """Seconds between two positions."""
    cutoff: float = CUTOFF
    """Hz at which the gain has fallen by 3 dB."""

    def __post_init__(self) -> None:
        """Refuse what filters nothing."""
        if not (self.dt > 0 and np.isfinite(self.dt)):
            raise Problem(f"the time between two positions must be positive, got {self.dt:g}")
        if not (self.cutoff > 0 and np.isfinite(self.cutoff)):
            raise Problem(f"the cutoff of a velocity filter must be positive, got {self.cutoff:g}")

    @property
    def decay(self) -> float:
        """How much of a velocity is left after one step, a."""
        return float(np.exp(-2 * np.pi * self.cutoff * self.dt))

    def step(self, velocity: Float, before: Float, position: Float) -> Float:
        """The velocity after one more position; all have the same shape."""
        return self.decay * velocity + (1 - self.decay) * (position - before) / self.dt

    def velocities(self, position: Float, starts: Sequence[int] = (0,)) -> Float:
        """Velocities (T, n) of positions (T, n); each segment begins with its first difference."""
        found = np.zeros_like(position)
        for begin, end in pairwise([*starts, len(position)]):
            if end - begin > 1:
                change = np.diff(position[begin:end], axis=0, prepend=2 * position[begin] - position[begin + 1, None])
                slope = change / self.dt
                found[begin:end] = lfilter(
                    [1 - self.decay], [1, -self.decay], slope, axis=0, zi=self.decay * slope[:1]
                )[0]
        return found
