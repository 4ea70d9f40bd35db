"""Physics from the innovations of a filter: what every prediction error says, with what the filter made of it before.

    s' <- A (I - K H) s + G         how a prediction moves with the parameters z; G: how one step of the simulator does
    z  <- argmin_z  sum_t w_t |v_t - H s_t (z - z_0)|^2_S + |z|^2

v are innovations, S their covariance. Steps that begin at estimates would not do: a filter whose simulator is wrong
is off by more than one step of that, and its estimates are pulled to where the simulator would have them.
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float
from isthmus.estimate.innovations import FREEDOM, unlikely
from isthmus.estimate.kalman import Innovation, KalmanFilter
from isthmus.estimate.recorded import Recording
from isthmus.sysid.physics import Physics

ROUNDS, TURNS = 6, 3
"""Steps of Gauss-Newton at most, and times at most that derivatives are taken for them."""
STALE = 0.3
"""Derivatives are taken anew once z has moved so far from where they were taken."""
SHORTER = (1.0, 0.5, 0.25, 0.1)
"""Shares of a step that are tried."""
SETTLED = 0.02
"""Nats a step by which one must be better."""
NUDGE = 1e-2
"""Size of a finite difference in z."""
MOST_PREDICTIONS = 40_000
"""Predictions behind one Jacobian at most; of runs there is at least one."""


def identified(one: KalmanFilter, z: Float, recording: Recording, physics: Physics) -> Float:
    """Parameters (p,) under which the innovations of `one` are likelier, looked for from its own z.

    Derivatives cost most, and change little: they are taken anew only where z has moved far.
    """
    recording = _shorter(recording, MOST_PREDICTIONS // max(physics.size, 1))
    for _ in range(TURNS):
        one = replace(one, simulator=physics.simulator(physics.values(z)))
        found = _Problem.of(one, z, recording, physics).searched(z)
        moved, z = np.abs(found - z).max(), found
        if moved < STALE:
            break
    return z


def _shorter(recording: Recording, most: int) -> Recording:
    """The first of its runs, with about so many steps at most."""
    count = max(1, int(np.searchsorted(np.cumsum(recording.steps), most, side="right")))
    longest = int(recording.steps[:count].max())
    sensed, applied = recording.sensed[:count, : longest + 1], recording.applied[:count, :longest]
    return Recording(sensed, applied, recording.steps[:count])


@dataclass(frozen=True)
class _Problem:
    """Innovations of a filter as a function of the parameters of its simulator."""

    one: KalmanFilter
    recording: Recording
    physics: Physics
    changes: list[Float]
    """How one step of the simulator moves with its beginning, T times (n, obs, obs)."""
    effects: Float
    """And with the parameters (n, T, obs, p)."""

    @staticmethod
    def of(one: KalmanFilter, z: Float, recording: Recording, physics: Physics) -> "_Problem":
        """With derivatives around the estimates of `one`, whose parameters are z."""
        linear = recording.linearised(one)
        estimates = np.stack([each.reference for each in linear], axis=1)
        effects = _effects(physics, z, estimates, recording.acting(one.sensors.delay))
        return _Problem(one, recording, physics, [each.change for each in linear], effects)

    def searched(self, z: Float) -> Float:
        """The parameters that steps of Gauss-Newton lead to from z."""
        low, high = self.physics.bounds
        loss = self.loss(z)
        for _ in range(ROUNDS if np.isfinite(loss) else 0):
            errors, slopes = self.errors(z)
            step = -np.linalg.solve(slopes.T @ slopes + np.eye(len(z)), slopes.T @ errors + z)
            tried, found = z, loss
            for share in SHORTER:
                tried = np.clip(z + share * step, low, high)
                found = self.loss(tried)
                if found < loss:
                    break
            else:
                return z
            gained, loss, z = loss - found, found, tried
            if gained < SETTLED * int(self.recording.steps.sum()):
                return z
        return z

    def passed(self, z: Float) -> list[Innovation]:
        """The innovations after each of the T steps with parameters z."""
        one, recording = replace(self.one, simulator=self.physics.simulator(self.physics.values(z))), self.recording
        state, found = one.initial_state(len(recording.steps)), list[Innovation]()
        _, state = one.watched(state, recording.sensed[:, 0], recording.applied[:, 0])
        for t, change in enumerate(self.changes):
            around = one.around(state, recording.applied[:, t], change)
            innovation, state = one.watched(state, recording.sensed[:, t + 1], recording.applied[:, t], around)
            found.append(innovation)
        return found

    def loss(self, z: Float) -> float:
        """How unlikely all innovations are with parameters z, and those parameters, in nats."""
        steps = self.recording.steps
        found = sum(float(unlikely(one)[steps > t].sum()) for t, one in enumerate(self.passed(z)))
        return found + float(z @ z) / 2 if np.isfinite(found) else np.inf

    def errors(self, z: Float) -> tuple[Float, Float]:
        """Innovations in deviations (k,), steps that are far off weighed less, and their derivatives by z (k, p)."""
        size, p = self.recording.sensed.shape[2], len(z)
        errors, slopes = list[Float](), list[Float]()
        moved = np.zeros((0, 0, 0))
        for t, (innovation, change) in enumerate(zip(self.passed(z), self.changes, strict=True)):
            if not t:
                moved = np.zeros((*innovation.prior.shape, p))
            moved[:, :size] = change @ moved[:, :size] + self.effects[:, t]
            there = -innovation.measurement.of(moved.transpose(0, 2, 1)).transpose(0, 2, 1)  # (n, m, p)
            values = innovation.values
            root = np.linalg.cholesky(innovation.covariance)
            both = np.linalg.solve(root, np.concatenate((values[..., None], there), axis=2))
            weight = (FREEDOM + values.shape[1]) / (FREEDOM + np.square(both[..., 0]).sum(axis=1))
            both *= np.sqrt(weight)[:, None, None]
            live = (self.recording.steps > t) & np.isfinite(both.sum(axis=(1, 2)))
            errors.append(both[live, :, 0].ravel())
            slopes.append(both[live, :, 1:].reshape(-1, p))
            moved = np.nan_to_num(moved + innovation.arrived.gain @ there, nan=0.0, posinf=0.0, neginf=0.0)
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
