"""Runs of different lengths that lie one after the other in an array, put side by side: a loop over time takes all."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.core import Int


@dataclass(frozen=True)
class RaggedBatch:
    """Where each of n rows goes."""

    step: Int
    """Its place in its run (n,)."""
    run: Int  # (n,)

    @staticmethod
    def of(runs: Int) -> "RaggedBatch":
        """For rows that are of these `runs` (n,), in order within each."""
        _, run, lengths = np.unique(runs, return_inverse=True, return_counts=True)
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
        step = np.zeros(len(run), np.int64)
        step[np.argsort(run, kind="stable")] = np.arange(len(run)) - begins
        return RaggedBatch(step, run)

    def pad(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Rows (n, ...) as (longest, runs, ...); zeros past the end of a run."""
        whole = np.zeros((self.step.max() + 1, self.run.max() + 1, *rows.shape[1:]), rows.dtype)
        whole[self.step, self.run] = rows
        return whole

    def gather(self, whole: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The rows (n, ...) of a padded batch."""
        return whole[self.step, self.run]
