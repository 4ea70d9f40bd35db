"""What a simulator gets wrong in a step, as a linear function of where the robot is and what it is told.

Ridge regression, as strong as predicts other episodes best; with nothing to be gained, the residual is zero.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int
from isthmus.core.linear import solve

RIDGES = (1e-4, 1e-2, 1.0, 100.0)
"""Strengths that are tried, in steps' worth of data."""
FOLDS = 5


@dataclass(frozen=True)
class LinearResidual:
    """An error (n, d) from inputs (n, k); never a larger one than was seen."""

    mean: Float
    scale: Float
    weights: Float
    """(k + 1, d); the last row is the same everywhere."""
    largest: Float
    """(d,)."""

    def __call__(self, inputs: Float) -> Float:
        """Errors (n, d) to be expected."""
        features = _features((inputs - self.mean) / self.scale)
        return np.clip(features @ self.weights, -self.largest, self.largest)


def fit_linear_residual(inputs: Float, errors: Float, origin: Int) -> LinearResidual:
    """The residual that `inputs` (n, k) and `errors` (n, d) of the episodes `origin` (n,) come to."""
    spread = inputs.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    mean = inputs.mean(axis=0)
    features, fold = _features((inputs - mean) / scale), origin % FOLDS
    left = {ridge: _held_out(features, errors, fold, ridge) for ridge in RIDGES}
    best = min(left, key=lambda ridge: left[ridge])
    useful = left[best] < float(np.square(errors).sum())
    weights = _ridge(features, errors, best) if useful else np.zeros((features.shape[1], errors.shape[1]))
    return LinearResidual(mean, scale, weights, np.abs(errors).max(axis=0))


def _held_out(features: Float, errors: Float, fold: Int, ridge: float) -> float:
    """The squared error that is left in episodes that were not fitted to; with a single fold, that of no residual."""
    total = 0.0
    for number in np.unique(fold):
        apart = fold == number
        if apart.all():
            return float("inf")
        weights = _ridge(features[~apart], errors[~apart], ridge)
        total += float(np.square(errors[apart] - features[apart] @ weights).sum())
    return total


def _ridge(features: Float, errors: Float, ridge: float) -> Float:
    return solve(features.T @ features + ridge * np.eye(features.shape[1]), features.T @ errors)


def _features(standardised: Float) -> Float:
    return np.hstack((standardised, np.ones((len(standardised), 1))))
