"""Which of several estimators suits a target, by what its sensors showed: no reward and no ground truth is needed."""

import numpy as np

from isthmus.core import Float, Int, Simulator
from isthmus.estimate.recorded import Recording
from isthmus.sim.sensitivity import predict_in_chunks

CLEARLY = 0.05
"""Nats by which another estimator must be better than the Kalman filter."""
LEAST = 1e-12


def surprise(
    estimates: Float, recording: Recording, simulator: Simulator, sensed: Int, scale: Float, delay: int
) -> float:
    """How badly the `simulator` foresees the next values of the sensors from `estimates` (n, T+1, obs).

    It is the mean over sensors of the logarithm of the median squared error, in units of `scale` (obs,).
    """
    size, act = estimates.shape[2], recording.applied.shape[2]
    before, given = estimates[:, :-1].reshape(-1, size), recording.acting(delay).reshape(-1, act)
    times = np.array(range(recording.applied.shape[1]), np.int64)
    taken = (times < recording.steps[:, None]).ravel()
    ahead = predict_in_chunks(simulator, before[taken], given[taken])[:, sensed]
    seen = recording.sensed[:, 1:].reshape(-1, size)[taken][:, sensed]
    error = np.square((seen - ahead) / scale[sensed])
    error = np.where(np.isfinite(seen) & ~np.isfinite(ahead), np.inf, error)  # a value that did not arrive is no error
    return float(np.log(np.nanmedian(error, axis=0) + LEAST).mean() / 2)
