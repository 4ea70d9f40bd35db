"""Tails of the normal distribution."""

import numpy as np

from isthmus.core import Float


def upper_tail(values: Float) -> Float:
    """The normal distribution's share above each value; Abramowitz and Stegun 26.2.17, to 1e-7."""
    size = np.abs(values)
    t = 1 / (1 + 0.2316419 * size)
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * size**2) / np.sqrt(2 * np.pi) * series
    return np.asarray(np.where(values >= 0, tail, 1 - tail), dtype=np.float64)


def mean_beyond(bounds: Float) -> Float:
    """The mean of a standard normal number that is known to be larger than each of `bounds`."""
    far = np.maximum(bounds, 4.0)
    asymptotic = far + 1 / far - 2 / far**3
    near = np.minimum(bounds, 4.0)
    exact = np.exp(-0.5 * near**2) / np.sqrt(2 * np.pi) / np.maximum(upper_tail(near), 1e-12)
    return np.where(bounds > 4.0, asymptotic, exact)
