"""An extended Kalman filter whose process model is a simulator.

Every step the simulator predicts from the estimate with the applied action, and its derivatives by finite differences
carry the covariance along. Where there are derivatives in a coarse simulator, those do. A sensor that may have an
offset adds it to the state: it stays as it is from step to step, and the sensor shows the sum of both.

A contact that comes earlier or later than predicted makes a single innovation far larger than the covariance allows.
The predicted covariance is then scaled up until it does, so that the measurement is believed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus.core import Float, Int, PolicyState, Simulator
from isthmus.estimate.filter import BEGUN, ESTIMATE, ActionDelay, SensorModel
from isthmus.estimate.gain import gain, innovation_covariance, predicted, updated
from isthmus.sim.sensitivity import HasCoarse, for_robots, predict_in_chunks

COVARIANCE, BIAS = "estimator covariance", "estimator bias"
NUDGE = 1e-4
"""Size of a finite difference, in units of the observation."""
SURPRISING, MOST_SURPRISING = 2.0, 1e4
"""Mean squared innovation, in its own variance, from which the covariance is scaled up, and by how much at most."""
MISSING = 1e12
"""Noise variance of a value that did not arrive."""
LARGEST_CHANGE = 1e3
"""Derivatives are cut off at this: a finite difference across the moment of a contact says nothing."""


@dataclass(frozen=True)
class Process:
    """How far a simulator is to be trusted, and where episodes start."""

    noise: Float
    """Standard deviation of its one-step error in each observation (obs,)."""
    start: Float
    """Mean of the first observation (obs,)."""
    start_covariance: Float  # (obs, obs)


@dataclass(frozen=True)
class Linearised:
    """A simulator's step around a reference."""

    reference: Float  # (n, obs)
    ahead: Float
    """A step later (n, obs)."""
    change: Float
    """d ahead / d reference (n, obs, obs)."""


@dataclass(frozen=True)
class Innovation:
    """What a measurement said, for who estimates noise from it; each (n, ...)."""

    values: Float
    """Measured less predicted (n, m); 0 where nothing arrived."""
    covariance: Float
    """Of it, as the filter expected (n, m, m)."""
    residual: Float
    """Measured less estimated, after the update (n, m)."""
    left: Float
    """Variance of the estimated measurement, after the update (n, m)."""
    moved: Float
    """By how much the state was corrected (n, d)."""
    prior: Float
    """The state before the measurement (n, d)."""
    prior_covariance: Float
    """Of it, as it was weighed (n, d, d)."""


@dataclass(frozen=True)
class KalmanFilter:
    """The filter; it is given all it needs and keeps nothing."""

    simulator: Simulator
    sensors: SensorModel
    process: Process

    @cached_property
    def _biased(self) -> Int:
        """The sensors that may have an offset (b,), by their place among the sensors."""
        return np.flatnonzero(self.sensors.bias > 0)

    @cached_property
    def _delay(self) -> ActionDelay:
        return ActionDelay(self.sensors.delay, self.simulator.spec.action_size)

    @cached_property
    def _process(self) -> Float:
        """Q (d, d), for the observation and the offsets, which stay as they are."""
        return np.diag(np.concatenate((np.square(self.process.noise), np.zeros(len(self._biased)))))

    def initial_state(self, n: int) -> PolicyState:
        """Robots at the mean start, as uncertain as starts are."""
        size, extra = len(self.process.start), len(self._biased)
        covariance = np.zeros((size + extra, size + extra))
        covariance[:size, :size] = self.process.start_covariance
        offsets = size + np.arange(extra)
        covariance[offsets, offsets] = np.square(self.sensors.bias[self._biased])
        return {
            BEGUN: np.zeros(n, np.bool_),
            ESTIMATE: np.broadcast_to(self.process.start, (n, size)).copy(),
            BIAS: np.zeros((n, extra)),
            COVARIANCE: np.broadcast_to(covariance, (n, *covariance.shape)).copy(),
            **self._delay.initial_state(n),
        }

    def update(self, state: PolicyState, sensed: Float, applied: Float) -> tuple[Float, PolicyState]:
        """Estimates (n, obs), and the next state."""
        _, state = self.watched(state, sensed, applied)
        return np.asarray(state[ESTIMATE]), state

    def watched(
        self, state: PolicyState, sensed: Float, applied: Float, linear: Linearised | None = None
    ) -> tuple[Innovation, PolicyState]:
        """The same, with what the measurement said instead of the estimate.

        With `linear` nothing is simulated: it is what the simulator does around the estimates.
        """
        begun = np.asarray(state[BEGUN])
        given, later = self._delay.shifted(state, applied)
        at = np.concatenate((state[ESTIMATE], state[BIAS]), axis=1)  # (n, d)
        covariance = np.asarray(state[COVARIANCE])
        if begun.any():
            ahead, change = self._ahead(at, given, linear)
            moved = predicted(covariance, change, self._process)
            fine = begun & np.isfinite(ahead).all(axis=1) & np.isfinite(moved).all(axis=(1, 2))
            at = np.where(fine[:, None], ahead, at)
            covariance = np.where(fine[:, None, None], moved, covariance)
        innovation, at, covariance = self._corrected(at, covariance, sensed)
        size = len(self.process.start)
        return innovation, {
            BEGUN: np.ones_like(begun),
            ESTIMATE: at[:, :size],
            BIAS: at[:, size:],
            COVARIANCE: covariance,
            **later,
        }

    def _ahead(self, at: Float, given: Float, linear: Linearised | None) -> tuple[Float, Float]:
        """The state a step later (n, d), and its derivatives with respect to the state now (n, d, d)."""
        size = len(self.process.start)
        now = at[:, :size]
        offsets = np.array(range(size, at.shape[1]), np.int64)
        change = np.zeros((len(at), at.shape[1], at.shape[1]))
        change[:, offsets, offsets] = 1.0
        if linear is None:
            linear = linearised(for_robots(self.simulator, len(at)), now, given)
        ahead = linear.ahead + (linear.change @ (now - linear.reference)[..., None])[..., 0]
        change[:, :size, :size] = linear.change
        return np.concatenate((ahead, at[:, size:]), axis=1), change

    def _corrected(self, at: Float, covariance: Float, sensed: Float) -> tuple[Innovation, Float, Float]:
        """What was measured, the state (n, d) and its covariance (n, d, d) after the measurement."""
        rows, size = self.sensors.sensed, len(self.process.start)
        there, back = self._measured(covariance)
        shown = sensed[:, rows]
        arrived = np.isfinite(shown)
        offset = np.zeros_like(shown)
        offset[:, self._biased] = at[:, size:]
        values = np.where(arrived, shown - at[:, rows] - offset, 0.0)
        noise = np.where(arrived, np.square(self.sensors.noise), MISSING)
        inner = innovation_covariance(back, noise)
        share = (values * np.linalg.solve(inner, values[..., None])[..., 0]).sum(axis=1)
        surprise = share / np.maximum(arrived.sum(axis=1), 1) / SURPRISING
        if (surprise > 1).any():
            covariance = self._raised(covariance, np.clip(surprise, 1.0, MOST_SURPRISING))
            there, back = self._measured(covariance)
        weight = gain(there, innovation_covariance(back, noise))
        step = (weight @ values[..., None])[..., 0]
        left = updated(covariance, there, back, weight, noise)
        _, after = self._measured(left)
        place = np.arange(len(rows))
        residual = np.where(arrived, values - self._shown(step), 0.0)
        return Innovation(values, inner, residual, after[:, place, place], step, at, covariance), at + step, left

    def _raised(self, covariance: Float, factor: Float) -> Float:
        """P (n, d, d) with the variances of the observation, and not of offsets, multiplied by `factor` (n,)."""
        root = np.ones(covariance.shape[:2])
        root[:, : len(self.process.start)] = np.sqrt(factor)[:, None]
        return covariance * root[:, :, None] * root[:, None]

    def _shown(self, step: Float) -> Float:
        """How measurements (n, m) change with the state (n, d)."""
        shown = step[:, self.sensors.sensed].copy()
        shown[:, self._biased] += step[:, len(self.process.start) :]
        return shown

    def _measured(self, covariance: Float) -> tuple[Float, Float]:
        """H P (n, m, d) and H P H' (n, m, m), where a measurement is an entry and its offset."""
        rows, biased, size = self.sensors.sensed, self._biased, len(self.process.start)
        there = covariance[:, rows].copy()
        there[:, biased] += covariance[:, size:]
        back = there[:, :, rows].copy()
        back[:, :, biased] += there[:, :, size:]
        return there, back


def linearised(simulator: Simulator, now: Float, given: Float) -> Linearised:
    """What a simulator does from observations `now` (n, obs) with actions `given` (n, act), and around them.

    Derivatives are those of the coarse simulator, where there is one.
    """
    n, size = now.shape
    coarse = (simulator.coarse if isinstance(simulator, HasCoarse) else None) or simulator
    tried = (now[:, None] + NUDGE * np.vstack((np.zeros(size), np.eye(size)))).reshape(-1, size)
    seen = predict_in_chunks(coarse, tried, np.repeat(given, size + 1, axis=0)).reshape(n, size + 1, size)
    slopes = (seen[:, 1:] - seen[:, :1]).transpose(0, 2, 1) / NUDGE
    ahead = seen[:, 0] if coarse is simulator else predict_in_chunks(simulator, now, given)
    return Linearised(now, ahead, np.clip(slopes, -LARGEST_CHANGE, LARGEST_CHANGE))
