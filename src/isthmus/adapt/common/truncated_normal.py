"""Tails of the normal distribution."""

import math

import numpy as np

from isthmus.core import Float

FAR = 4.0
"""Where the asymptotic series takes over."""
SERIES = tuple(
    factor / math.sqrt(2 * math.pi) for factor in (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)
)


def upper_tail(values: Float) -> Float:
    """The normal distribution's share above each value; Abramowitz and Stegun 26.2.17, to 1e-7."""
    t = 1 / (1 + 0.2316419 * np.abs(values))
    tail = np.full_like(t, SERIES[0])
    for factor in SERIES[1:]:
        tail *= t
        tail += factor
    tail *= t
    tail *= np.exp(-0.5 * np.square(values))
    return np.asarray(np.where(values >= 0, tail, 1 - tail), dtype=np.float64)


def inverse_mills_ratio(bounds: Float) -> Float:
    """The mean of a standard normal number that is known to be larger than each of `bounds`."""
    inverse = 1 / np.maximum(bounds, FAR)
    asymptotic = bounds + inverse - 2 * inverse**3
    near = np.minimum(bounds, FAR)
    exact = np.exp(-0.5 * np.square(near)) / (math.sqrt(2 * math.pi) * np.maximum(upper_tail(near), 1e-12))
    return np.where(bounds > FAR, asymptotic, exact)
