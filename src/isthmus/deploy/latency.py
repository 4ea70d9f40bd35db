"""How long a robot waited for its commands."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LATE = 0.002
"""Seconds after which a deadline counts as missed."""


@dataclass(frozen=True)
class Latency:
    """Of a control loop, in milliseconds."""

    steps: int
    compute_p50: float
    """Median of what a step took to compute."""
    compute_p99: float
    compute_worst: float
    late_p99: float
    """How late a command was, beyond its deadline, in 99 of 100 steps at most."""
    late_worst: float
    missed: int
    """Commands that were more than 2 ms late."""

    @staticmethod
    def of(seconds: Sequence[float], lateness: Sequence[float]) -> "Latency":
        """From what each step took, and how late its command was, in seconds."""
        took = 1e3 * np.array(seconds or [0.0])
        late = 1e3 * np.maximum(np.array(lateness or [0.0]), 0.0)
        p50, p99 = (float(one) for one in np.percentile(took, (50, 99)))
        missed = int(np.count_nonzero(late > 1e3 * LATE))
        return Latency(
            len(seconds), p50, p99, float(took.max()), float(np.percentile(late, 99)), float(late.max()), missed
        )

    def __str__(self) -> str:
        """For people."""
        return (
            f"{self.steps} steps, {self.compute_p50:.3g} ms each (99 % within {self.compute_p99:.3g} ms, worst "
            f"{self.compute_worst:.3g} ms); commands at most {self.late_worst:.3g} ms late, "
            f"{self.missed} missed deadline{'s' * (self.missed != 1)}"
        )
