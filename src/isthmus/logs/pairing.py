"""Which columns of a log belong to one joint: velocities are the change of positions, positions follow commands."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.logs.assign import assign
from isthmus.logs.robot_body import Index

ALIKE = 0.7
"""Correlation from which on two columns may belong to one joint."""
FOLLOWS = 0.85
"""Mean correlation from which on positions are taken to follow commands that are positions."""
TIE = 0.03
"""Loss of mean correlation at which columns are rather paired in their order."""
LONGEST_LAG = 0.3
"""Seconds by which positions may follow their commands."""
LAGS = 13
MOST_ROWS = 6000


@dataclass(frozen=True)
class Pairs:
    """For each of C columns the one among L others that belongs to it."""

    others: Index
    """(C,) -1 where none does."""
    correlation: Float
    """(C,) signed; 0 where there is none."""
    ratio: Float
    """(C,) how many times as large the other's changes are, at the same lag."""
    lag: int
    """Rows by which the columns are later than the others."""

    @property
    def mean(self) -> float:
        """Mean strength of the correlations."""
        return float(np.abs(self.correlation).mean()) if len(self.correlation) else 0.0


def pair_columns(columns: Float, others: Float, longest_lag: int = 0) -> Pairs:
    """Pair columns (T, C) with others (T, L) by correlation, at the lag at which that is strongest.

    Where the order that the columns have is nearly as good, it is kept.
    """
    every = max(1, len(columns) // MOST_ROWS)
    lags = (
        np.unique(np.linspace(0, longest_lag, LAGS).round().astype(np.int64)) if longest_lag else np.zeros(1, np.int64)
    )
    found = [_paired(columns[lag::every], others[: len(others) - lag : every], lag) for lag in lags.tolist()]
    return max(found, key=lambda pairs: pairs.mean)


def _paired(columns: Float, others: Float, lag: int) -> Pairs:
    left, right = columns - columns.mean(axis=0), others - others.mean(axis=0)
    sizes, wide = np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0)
    scale = np.outer(sizes, wide)
    correlation = np.divide(left.T @ right, scale, out=np.zeros_like(scale), where=scale > 1e-12)
    rows, chosen = assign(-np.abs(correlation))
    diagonal = np.arange(min(correlation.shape), dtype=np.intp)
    if correlation.shape[0] == correlation.shape[1]:
        in_order, at_best = np.abs(correlation[diagonal, diagonal]).mean(), np.abs(correlation[rows, chosen]).mean()
        if in_order > at_best - TIE:
            rows, chosen = diagonal, diagonal
    pairs, strength, ratio = np.full(len(sizes), -1), np.zeros(len(sizes)), np.ones(len(sizes))
    for row, other in zip(rows.tolist(), chosen.tolist(), strict=True):
        if abs(correlation[row, other]) >= ALIKE:
            pairs[row], strength[row] = other, correlation[row, other]
            ratio[row] = wide[other] / max(float(sizes[row]), 1e-12)
    return Pairs(pairs, strength, ratio, lag)
