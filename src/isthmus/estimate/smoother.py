"""Estimates from what was sensed before and after: the Rauch-Tung-Striebel smoother.

    C = P A' (P')^-1            P: covariance of the estimate, P': of what it predicts a step later
    x <- x + C (y - y')         y: the smoothed state a step later, y': as it was predicted

A robot that moves cannot wait for it. Methods learn from it: steps of a smoothed run agree with the dynamics, while a
filter corrects its estimate in every step, which looks like a disturbance. What comes later never moves an estimate by
much more than it was unsure: where it seems to, at a contact, the simulator is not as it was linearised.
"""

import numpy as np

from isthmus.core import Float
from isthmus.estimate.filter import ESTIMATE
from isthmus.estimate.kalman import BIAS, COVARIANCE, KalmanFilter
from isthmus.estimate.recorded import Recording

MOST = 3.0
"""Standard deviations of an estimate by which it is corrected at most."""


def smoothed(one: KalmanFilter, recording: Recording) -> Float:
    """The estimates (n, T+1, obs) of a recording."""
    linear = recording.linearised(one)
    size = recording.sensed.shape[2]
    state = one.initial_state(len(recording.steps))
    means, covariances = list[Float](), list[Float]()
    priors, prior_covariances = list[Float](), list[Float]()
    for t in range(recording.sensed.shape[1]):
        before = max(t - 1, 0)
        innovation, state = one.watched(state, recording.sensed[:, t], recording.applied[:, before], linear[before])
        means.append(np.concatenate((state[ESTIMATE], state[BIAS]), axis=1))
        covariances.append(np.asarray(state[COVARIANCE]))
        priors.append(innovation.prior)
        prior_covariances.append(innovation.prior_covariance)
    later, found = means[-1], [means[-1]]
    for t in range(len(means) - 2, -1, -1):
        change = np.zeros_like(covariances[t])
        offsets = np.array(range(size, change.shape[1]), np.int64)
        change[:, :size, :size], change[:, offsets, offsets] = linear[t].change, 1.0
        back = np.linalg.solve(prior_covariances[t + 1], change @ covariances[t]).transpose(0, 2, 1)
        most = MOST * np.sqrt(np.diagonal(covariances[t], axis1=1, axis2=2))
        here = means[t] + np.clip((back @ (later - priors[t + 1])[..., None])[..., 0], -most, most)
        goes_on = (t < recording.steps)[:, None] & np.isfinite(here).all(axis=1, keepdims=True)
        later = np.where(goes_on, here, means[t])
        found.append(later)
    return np.stack(found[::-1], axis=1)[..., :size]
