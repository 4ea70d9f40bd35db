"""How noisy are a robot's sensors? A step from a place that it was not in ends elsewhere, and the next begins there.

    r_t = o_t+1 - T(o_t, a_t) = n_t+1 - A n_t + ...           n_t is in both r_t and r_t-1:
    E r_t r_t-1' = -A E n n'                                  what pushes the robot itself is not

so noise shows in the covariance of errors that follow each other, and nothing else makes that negative.
"""

from collections.abc import Sequence

import numpy as np

from isthmus.core import Episode, Float, Simulator
from isthmus.core.metric import Metric
from isthmus.core.statistics import standard_error
from isthmus.sim.sensitivity import predict_in_chunks, state_sensitivity
from isthmus.sysid.residualise import residualise

MOST_STEPS, STATES = 600, 40
"""Steps that it is estimated from, and states in which A is looked at."""
SURELY = 4.0
"""Standard errors by which a covariance is negative."""
OUTLYING = 6.0
"""Errors count for no more than so many typical ones: there are contacts."""
LEAST_KEPT, MOST_KEPT = 0.3, 1.5
"""What an error leaves of itself after a step is taken to be within these."""


def sensor_noise(episodes: Sequence[Episode], simulator: Simulator, metric: Metric) -> Float:
    """The standard deviation of the noise in each observation (obs,), 0 where there is none to be seen."""
    noise = np.zeros(simulator.spec.observation_size)
    runs = [one for episode in reversed(episodes) for one in episode if not one.context]
    runs = runs[: 1 + int(np.searchsorted(np.cumsum([len(run) for run in runs]), MOST_STEPS))]
    if not runs:
        return noise
    now, then = (np.concatenate([run.observations[part] for run in runs]) for part in (np.s_[:-1], np.s_[1:]))
    actions, targets = np.concatenate([run.applied for run in runs]), metric.targets
    errors = residualise(metric.scaled(then - predict_in_chunks(simulator, now, actions)), now[:, targets])
    most = OUTLYING * np.median(np.abs(errors), axis=0)
    errors = np.clip(errors, -most, most)
    follows = np.concatenate([np.arange(len(run)) > 0 for run in runs])[1:]
    together = (errors[1:] * errors[:-1])[follows]
    if not len(together):
        return noise
    covariance, unsure = together.mean(axis=0), standard_error(together, ddof=0)
    states = np.unique(np.linspace(0, len(now) - 1, STATES).astype(int))
    change = state_sensitivity(simulator, now[states], actions[states], metric)
    kept = np.clip(np.median(np.diagonal(change, axis1=1, axis2=2), axis=0), LEAST_KEPT, MOST_KEPT)
    variance = np.where(covariance < -SURELY * unsure, -covariance / kept, 0.0)
    noise[targets] = np.sqrt(variance) * metric.scale
    return noise
