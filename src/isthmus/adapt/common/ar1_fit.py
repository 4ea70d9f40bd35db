"""Find out what the disturbances at the actuators are like: the most likely among many, by what was recorded."""

from itertools import product

import numpy as np

from isthmus.adapt.common import outliers as odd
from isthmus.adapt.common.action_residuals import CommandErrors
from isthmus.adapt.common.ar1_disturbance import Disturbance
from isthmus.adapt.common.ragged_batch import SideBySide
from isthmus.adapt.common.truncated_normal import mean_beyond
from isthmus.core import Bool, Float, Int

LASTING = (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0)
BLURRED = (1e-6, 0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9)
"""Shares of the errors' variance that tell nothing of a disturbance."""
ROWS = 4000
"""Looked at, of the latest."""
CLEARLY = 3.0
"""A disturbance that lasts has to be so much more likely than one that does not, in natural logarithms."""


def fit_disturbance(errors: CommandErrors, runs: Int, size: Float, *, cut: bool) -> Disturbance:
    """From errors (n, act) that no line explains, in order within `runs` (n,), and how large those are (act,)."""
    # What is new at every step may be called blur or disturbance: only where it is cut off does that matter.
    shapes = np.array([(0.0, BLURRED[0]), *product(LASTING, BLURRED)])
    rows = _latest(runs)
    likely = _log_likelihood(errors[rows].each(SideBySide.of(runs[rows]).spread), size, *shapes.T)
    best = np.argmax(likely, axis=0)
    best = np.where(likely[best, np.arange(len(size))] > likely[0] + CLEARLY, best, 0)
    lasting, blurred = shapes[best].T
    return Disturbance(size * np.sqrt(1 - blurred), lasting, size * np.sqrt(blurred), cut=cut)


def _log_likelihood(errors: CommandErrors, size: Float, lasting: Float, blurred: Float) -> Float:
    """Of errors (T, runs, act), by candidate and actuator.

    By a Kalman filter for each: what an error that is only bounded tells is taken for normal, with the right mean and
    variance, and an odd one counts as little as it is likely to be of this kind.
    """
    r, share = lasting[:, None, None], blurred[:, None, None]
    spread, blur = np.maximum(np.square(size) * (1 - share), 1e-12), np.maximum(np.square(size) * share, 1e-12)
    mean: Float = np.zeros((len(lasting), *errors.values.shape[1:]))
    variance = np.broadcast_to(spread, mean.shape)
    likely = np.zeros((len(lasting), len(size)))
    for t in range(len(errors.values)):
        now = errors[t]
        unsure = np.sqrt(np.maximum(np.square(now.shown) * variance + blur * np.square(now.haze), 1e-12))
        gain = now.shown * variance / unsure
        apart = now.values - now.shown * mean
        seen, trusted = odd.told(apart, unsure)
        missed = apart / unsure
        chance = np.where(now.told, seen, 1.0)
        step, known = np.where(now.told, trusted * missed, 0.0), np.where(now.told, trusted, 0.0)
        bounded = ~now.told & (now.side != 0)
        if bounded.any():
            side = now.side[bounded]
            bound = side * missed[:, bounded]
            beyond = mean_beyond(bound)
            chance[:, bounded] = odd.beyond(bound)[0]
            step[:, bounded], known[:, bounded] = side * beyond, beyond * (beyond - bound)
        likely += np.log(chance).sum(axis=1)
        mean = r * (mean + gain * step)
        variance = np.square(r) * np.maximum(variance - np.square(gain) * known, 0.0) + (1 - np.square(r)) * spread
    return likely


def _latest(runs: Int) -> Bool:
    """Which rows (n,) are of the latest runs, as many as it takes."""
    numbers, lengths = np.unique(runs, return_counts=True)
    later = np.cumsum(lengths[::-1])[::-1] - lengths
    return np.isin(runs, numbers[later < ROWS])
