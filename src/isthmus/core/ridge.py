"""Ridge regression, and its cross-validation over groups of rows.

    w = argmin_w |c (y - x w)|^2 + penalty |w|^2 = (G + penalty 1)^-1 M        G = x' c^2 x,  M = x' c^2 y

G and M of all rows less those of a group are G and M of the other rows: each fold costs one small solve a penalty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core.arrays import Float, Int
from isthmus.core.linear import solve
from isthmus.core.statistics import standard_error


@dataclass(frozen=True)
class NormalEquations:
    """G and M of least squares, of so many rows."""

    gram: Float
    """G (f, f)."""
    moment: Float
    """M (f,) or (f, outputs)."""
    rows: int

    @staticmethod
    def of(x: Float, y: Float, weights: Float | None = None) -> "NormalEquations":
        """Of features (n, f), outputs (n,) or (n, outputs), and weights c of the rows (n,), by default 1."""
        weighted = x if weights is None else x * np.square(weights)[:, None]
        return NormalEquations(weighted.T @ x, weighted.T @ y, len(x))

    def without(self, part: "NormalEquations") -> "NormalEquations":
        """Of the rows that are not in `part`."""
        return NormalEquations(self.gram - part.gram, self.moment - part.moment, self.rows - part.rows)

    def ridge(self, penalty: float) -> Float:
        """The weights w, of the shape of M."""
        return solve(self.gram + penalty * np.eye(len(self.gram)), self.moment)


def held_out_residuals(
    x: Float,
    y: Float,
    folds: Int,
    penalties: Sequence[float],
    *,
    weights: Float | None = None,
    per_row: bool = False,
) -> Float:
    """What fits to the other folds leave of each row: (penalties, n) or (penalties, n, outputs).

    An infinite penalty fits nothing. With `per_row` a penalty counts once for every row that is fitted to.
    """
    whole = NormalEquations.of(x, y, weights)
    residuals = np.repeat(y[None], len(penalties), axis=0)
    for fold in np.unique(folds):
        out = folds == fold
        rest = whole.without(NormalEquations.of(x[out], y[out], None if weights is None else weights[out]))
        for row, penalty in enumerate(penalties):
            if np.isfinite(penalty) and rest.rows:
                residuals[row, out] -= x[out] @ rest.ridge(penalty * rest.rows if per_row else penalty)
    return residuals


def one_standard_error_rule(losses: Float) -> int:
    """The first candidate that is no worse than the best, by losses (candidates, folds).

    No worse means that its mean loss exceeds that of the best by no more than the standard error of the difference over
    folds. Candidates come in the order of preference, such as the strongest penalty first.
    """
    more = losses - losses[np.argmin(losses.sum(axis=1))]
    return int(np.argmax(more.mean(axis=1) <= standard_error(more.T, ddof=1)))
