"""The Kalman update: the Riccati recursion that is dual to the cost-to-go of a regulator.

P <- A P A' + Q                        predicted one step ahead
K = P H' (H P H' + R)^-1               weight of a measurement
P <- (I - K H) P (I - K H)' + K R K'   after the measurement
"""

import numpy as np

from isthmus.core import Float

TINY = 1e-14
"""Added to the variance of an innovation, so that it can always be inverted."""
MOST_STEPS = 100_000


def predicted(covariance: Float, change: Float, process: Float) -> Float:
    """P a step later (n, d, d), for d next / d now `change` (n, d, d) and the process covariance Q (d, d)."""
    return change @ covariance @ change.transpose(0, 2, 1) + process


def innovation_covariance(back: Float, noise: Float) -> Float:
    """H P H' + R (n, m, m), from H P H' `back` (n, m, m) and the noise variances R (n, m) or (m,)."""
    inner = back.copy()
    place = np.array(range(back.shape[1]), np.int64)
    inner[:, place, place] += noise + TINY
    return inner


def gain(there: Float, inner: Float) -> Float:
    """K (n, d, m), from H P `there` (n, m, d) and the innovations' covariance `inner` (n, m, m)."""
    return np.asarray(np.linalg.solve(inner, there), np.float64).transpose(0, 2, 1)


def updated(covariance: Float, there: Float, back: Float, weight: Float, noise: Float) -> Float:
    """P after a measurement of weight K (n, d, m): symmetric and positive for any K (n, d, d).

    Joseph's form, (I - K H) P (I - K H)' + K R K', for H P `there` (n, m, d) and H P H' `back` (n, m, m).
    """
    turned = weight.transpose(0, 2, 1)
    cross = weight @ there
    spread = weight @ back @ turned + (weight * np.expand_dims(noise, -2)) @ turned
    left = covariance - cross - cross.transpose(0, 2, 1) + spread
    return (left + left.transpose(0, 2, 1)) / 2


def steady_gain(change: Float, measures: Float, process: Float, noise: Float) -> Float:
    """K (d, m) of a system that does not change with time, where the recursion comes to rest.

    For d next / d now (d, d), what is measured of the state H (m, d), Q (d, d) and noise variances (m,).
    """
    covariance, weight = process[None], np.zeros((1, len(process), len(measures)))
    for _ in range(MOST_STEPS):
        ahead = predicted(covariance, change[None], process)
        there = measures @ ahead
        back = there @ measures.T
        latest = gain(there, innovation_covariance(back, noise))
        covariance = updated(ahead, there, back, latest, noise)
        settled = np.abs(latest - weight).max() < TINY + 1e-12 * np.abs(latest).max()
        weight = latest
        if settled:
            break
    return weight[0]
