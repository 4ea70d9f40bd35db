"""Physics from the innovations of a filter: what every prediction error says, with what the filter made of it before.

    s' <- A (I - K H) s + G         how a prediction moves with the parameters z; G: how one step of the simulator does
    z  <- argmin_z  sum_t w_t |v_t - H s_t (z - z_0)|^2_S + |z|^2

v are innovations, S their covariance. Steps that begin at estimates would not do: a filter whose simulator is wrong
is off by more than one step of that, and its estimates are pulled to where the simulator would have them.
"""

from dataclasses import replace

import numpy as np

from isthmus.core import Float
from isthmus.estimate.filter import ESTIMATE
from isthmus.estimate.innovations import FREEDOM, surprise_of
from isthmus.estimate.kalman import KalmanFilter
from isthmus.estimate.recorded import Recording
from isthmus.sysid.physics import Physics

ROUNDS = 6
"""Steps of Gauss-Newton at most."""
SHORTER = (1.0, 0.5, 0.25, 0.1)
"""Shares of a step that are tried."""
SETTLED = 0.02
"""Nats a step by which one must be better."""
NUDGE = 1e-2
"""Size of a finite difference in z."""
MOST_PREDICTIONS = 40_000
"""Predictions behind one Jacobian at most; of runs there is at least one."""


def identified(one: KalmanFilter, z: Float, recording: Recording, physics: Physics) -> Float:
    """Parameters (p,) under which the innovations of `one` are likelier, looked for from its own z."""
    recording = _shorter(recording, MOST_PREDICTIONS // max(physics.size, 1))
    steps, (low, high) = int(recording.steps.sum()), physics.bounds
    loss = _loss(one, z, recording, physics)
    for _ in range(ROUNDS):
        errors, slopes = _errors(one, z, recording, physics)
        curvature = slopes.T @ slopes + np.eye(len(z))
        step = -np.linalg.solve(curvature, slopes.T @ errors + z)
        for share in SHORTER:
            tried = np.clip(z + share * step, low, high)
            found = _loss(one, tried, recording, physics)
            if found < loss:
                break
        else:
            break
        gained, loss, z = loss - found, found, tried
        if gained < SETTLED * steps:
            break
    return z


def _shorter(recording: Recording, most: int) -> Recording:
    """The first of its runs, with about so many steps at most."""
    count = max(1, int(np.searchsorted(np.cumsum(recording.steps), most, side="right")))
    longest = int(recording.steps[:count].max())
    return Recording(
        recording.sensed[:count, : longest + 1], recording.applied[:count, :longest], recording.steps[:count]
    )


def _loss(one: KalmanFilter, z: Float, recording: Recording, physics: Physics) -> float:
    """How unlikely all innovations are with parameters z, and those parameters, in nats."""
    steps = int(recording.steps.sum())
    found = steps * surprise_of(replace(one, simulator=physics.simulator(physics.values(z))), recording)
    return found + float(z @ z) / 2 if np.isfinite(found) else np.inf


def _errors(one: KalmanFilter, z: Float, recording: Recording, physics: Physics) -> tuple[Float, Float]:
    """Innovations in deviations (k,), steps that are far off weighed less, and their derivatives by z (k, p)."""
    one = replace(one, simulator=physics.simulator(physics.values(z)))
    n, size = len(recording.steps), recording.sensed.shape[2]
    state = one.initial_state(n)
    innovation, state = one.watched(state, recording.sensed[:, 0], recording.applied[:, 0])
    estimates, passed = list[Float](), list[tuple[Float, Float, Float, Float]]()
    for t in range(recording.applied.shape[1]):
        estimates.append(np.asarray(state[ESTIMATE]))
        linear = one.around(state, recording.applied[:, t])
        innovation, state = one.watched(state, recording.sensed[:, t + 1], recording.applied[:, t], linear)
        arrived = innovation.arrived
        passed.append((linear.change, arrived.gain, arrived.values, innovation.covariance))
    effects = _effects(physics, z, np.stack(estimates, axis=1), recording.acting(one.sensors.delay))
    measured = innovation.measurement
    offsets = len(measured.biased)
    moved = np.zeros((n, size + offsets, len(z)))
    errors, slopes = list[Float](), list[Float]()
    for t, (change, gain, values, covariance) in enumerate(passed):
        moved[:, :size] = change @ moved[:, :size] + effects[:, t]
        there = -measured.of(moved.transpose(0, 2, 1)).transpose(0, 2, 1)  # (n, m, p)
        root = np.linalg.cholesky(covariance)
        both = np.linalg.solve(root, np.concatenate((values[..., None], there), axis=2))
        weight = (FREEDOM + values.shape[1]) / (FREEDOM + np.square(both[..., 0]).sum(axis=1))
        both *= np.sqrt(weight)[:, None, None]
        live = (recording.steps > t) & np.isfinite(both.sum(axis=(1, 2)))
        errors.append(both[live, :, 0].ravel())
        slopes.append(both[live, :, 1:].reshape(-1, len(z)))
        moved = np.nan_to_num(moved + gain @ there, nan=0.0, posinf=0.0, neginf=0.0)
    return np.concatenate(errors), np.concatenate(slopes)


def _effects(physics: Physics, z: Float, estimates: Float, given: Float) -> Float:
    """How one step of the simulator from `estimates` (n, T, obs) moves with the parameters (n, T, obs, p)."""
    before, actions = estimates.reshape(-1, estimates.shape[2]), given.reshape(-1, given.shape[2])
    middle = physics.predict(physics.values(z), before, actions, coarse=True)
    found = np.empty((*middle.shape, len(z)))
    for i in range(len(z)):
        there = z.copy()
        there[i] += NUDGE
        found[..., i] = (physics.predict(physics.values(there), before, actions, coarse=True) - middle) / NUDGE
    return found.reshape(*estimates.shape, len(z))
