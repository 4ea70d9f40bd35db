"""Find out what the disturbances at the actuators are like: the most likely among many, by what was recorded."""

from itertools import product

import numpy as np

from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ar1_filter import AR1Filter
from isthmus.adapt.common.ragged_batch import RaggedBatch
from isthmus.core import Bool, Float, Int

CORRELATIONS = (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0)
MEASUREMENT_SHARES = (1e-6, 0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9)
"""Shares of the errors' variance that tell nothing of a disturbance."""
ROWS = 4000
"""Looked at, of the latest."""
CLEARLY = 3.0
"""A correlated disturbance has to be so much more likely than one that does not, in natural logarithms."""


def fit_disturbance(errors: ActionResiduals, runs: Int, size: Float, *, saturates: bool) -> AR1Disturbance:
    """From errors (n, act) that the regression leaves, in order within `runs` (n,), and how large those are (act,)."""
    # White noise may count as measurement noise or as disturbance: that matters only where it is cut off.
    shapes = np.array([(0.0, MEASUREMENT_SHARES[0]), *product(CORRELATIONS, MEASUREMENT_SHARES)])
    rows = _latest(runs)
    likely = _log_likelihood(errors[rows].each(RaggedBatch.of(runs[rows]).pad), size, *shapes.T)
    best = np.argmax(likely, axis=0)
    best = np.where(likely[best, np.arange(len(size))] > likely[0] + CLEARLY, best, 0)
    correlation, measurement_share = shapes[best].T
    return AR1Disturbance(
        size * np.sqrt(1 - measurement_share), correlation, size * np.sqrt(measurement_share), saturates=saturates
    )


def _log_likelihood(errors: ActionResiduals, size: Float, correlation: Float, measurement_share: Float) -> Float:
    """Of errors (T, runs, act) whose standard deviation is `size` (act,), by candidate and actuator."""
    a, share = correlation[:, None, None], measurement_share[:, None, None]
    std, measurement_std = (np.sqrt(np.maximum(np.square(size) * part, 1e-12)) for part in (1 - share, share))
    return AR1Filter(std, a, measurement_std).log_likelihood(errors).sum(axis=1)


def _latest(runs: Int) -> Bool:
    """Which rows (n,) are of the latest runs, as many as it takes."""
    numbers, lengths = np.unique(runs, return_counts=True)
    later = np.cumsum(lengths[::-1])[::-1] - lengths
    return np.isin(runs, numbers[later < ROWS])
