"""Find out what the disturbances at the actuators are like: the most likely among many, by what was recorded."""

from itertools import product

import numpy as np

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ragged_batch import RaggedBatch
from isthmus.adapt.common.truncated_normal import inverse_mills_ratio
from isthmus.core import Bool, Float, Int

CORRELATIONS = (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0)
MEASUREMENT_SHARES = (1e-6, 0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9)
"""Shares of the errors' variance that tell nothing of a disturbance."""
ROWS = 4000
"""Looked at, of the latest."""
CLEARLY = 3.0
"""A disturbance that lasts has to be so much more likely than one that does not, in natural logarithms."""


def fit_disturbance(errors: ActionResiduals, runs: Int, size: Float, *, saturates: bool) -> AR1Disturbance:
    """From errors (n, act) that no line explains, in order within `runs` (n,), and how large those are (act,)."""
    # What is new at every step may be called blur or disturbance: only where it is cut off does that matter.
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
    """Of errors (T, runs, act), by candidate and actuator.

    By a Kalman filter for each: what an error that is only bounded tells is taken for normal, with the right mean and
    variance, and an odd one counts as little as it is likely to be of this kind.
    """
    r, share = correlation[:, None, None], measurement_share[:, None, None]
    stationary_variance, measurement_variance = (
        np.maximum(np.square(size) * (1 - share), 1e-12),
        np.maximum(np.square(size) * share, 1e-12),
    )
    mean: Float = np.zeros((len(correlation), *errors.values.shape[1:]))
    variance = np.broadcast_to(stationary_variance, mean.shape)
    log_likelihood = np.zeros((len(correlation), len(size)))
    for t in range(len(errors.values)):
        now = errors[t]
        innovation_std = np.sqrt(
            np.maximum(np.square(now.gain) * variance + measurement_variance * np.square(now.noise_scale), 1e-12)
        )
        gain = now.gain * variance / innovation_std
        innovation = now.values - now.gain * mean
        likelihood, trusted = outliers.observed(innovation, innovation_std)
        standardised = innovation / innovation_std
        chance = np.where(now.observed, likelihood, 1.0)
        step, known = np.where(now.observed, trusted * standardised, 0.0), np.where(now.observed, trusted, 0.0)
        bounded = ~now.observed & (now.censoring != 0)
        if bounded.any():
            sign = now.censoring[bounded]
            bound = sign * standardised[:, bounded]
            beyond = inverse_mills_ratio(bound)
            chance[:, bounded] = outliers.censored(bound)[0]
            step[:, bounded], known[:, bounded] = sign * beyond, beyond * (beyond - bound)
        log_likelihood += np.log(chance).sum(axis=1)
        mean = r * (mean + gain * step)
        variance = (
            np.square(r) * np.maximum(variance - np.square(gain) * known, 0.0)
            + (1 - np.square(r)) * stationary_variance
        )
    return log_likelihood


def _latest(runs: Int) -> Bool:
    """Which rows (n,) are of the latest runs, as many as it takes."""
    numbers, lengths = np.unique(runs, return_counts=True)
    later = np.cumsum(lengths[::-1])[::-1] - lengths
    return np.isin(runs, numbers[later < ROWS])
