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

from isthmus.core import Float, PolicyState, Simulator
from isthmus.estimate.filter import BEGUN, ESTIMATE, ActionDelay, SensorModel
from isthmus.estimate.gain import predicted, updated
from isthmus.estimate.linearised import Linearised, SimulatorPair
from isthmus.estimate.measurement import MISSING, Arrived, Measurement
from isthmus.sim.sensitivity import predict_in_chunks

COVARIANCE, BIAS = "estimator covariance", "estimator bias"
LEAST = 1e-300


@dataclass(frozen=True)
class Process:
    """How far a simulator is to be trusted, and where episodes start."""

    noise: Float
    """Standard deviation of its one-step error in each observation (obs,)."""
    start: Float
    """Mean of the first observation (obs,)."""
    start_covariance: Float  # (obs, obs)
    most: Float | None = None
    """Standard deviations that no estimate exceeds (obs,), if there are such: derivatives across a contact would make
    a covariance grow without end."""

    def bounded(self, covariance: Float) -> Float:
        """P (n, d, d) with standard deviations of the observation that are not larger than these."""
        if self.most is None:
            return covariance
        size = len(self.most)
        place = np.arange(size)
        std = np.sqrt(np.maximum(covariance[:, place, place], 0.0))  # rounding may have made one negative
        if (std <= self.most).all():
            return covariance
        factor = np.ones(covariance.shape[:2])
        factor[:, :size] = np.minimum(1.0, self.most / np.maximum(std, LEAST))
        return covariance * factor[:, :, None] * factor[:, None]


@dataclass(frozen=True)
class Innovation:
    """What a measurement said, for who estimates noise from it; each (n, ...)."""

    measurement: Measurement
    arrived: Arrived
    covariance: Float
    """Of what arrived, as the filter expected it (n, m, m)."""
    moved: Float
    """By how much the state was corrected (n, d)."""
    prior: Float
    """The state before the measurement (n, d)."""
    prior_covariance: Float
    """Of it, as it was weighed (n, d, d)."""
    posterior_covariance: Float  # (n, d, d)

    @property
    def values(self) -> Float:
        """Measured less predicted (n, m); 0 where nothing arrived."""
        return self.arrived.values

    @property
    def residual(self) -> Float:
        """Measured less estimated, after the update (n, m)."""
        left = self.values - self.measurement.of(self.moved)
        return np.where(self.arrived.noise < MISSING, left, 0.0)

    @property
    def left(self) -> Float:
        """Variance of the estimated measurement, after the update (n, m)."""
        _, back = self.measurement.covariances(self.posterior_covariance)
        return np.diagonal(back, axis1=1, axis2=2)


@dataclass(frozen=True)
class KalmanFilter:
    """The filter; it is given all it needs and keeps nothing."""

    simulator: Simulator
    sensors: SensorModel
    process: Process

    @cached_property
    def _measurement(self) -> Measurement:
        return Measurement(self.sensors, len(self.process.start))

    @cached_property
    def _simulators(self) -> SimulatorPair:
        return SimulatorPair.of(self.simulator)

    @cached_property
    def _for_one(self) -> SimulatorPair:
        return self._simulators.for_one

    @cached_property
    def _delay(self) -> ActionDelay:
        return ActionDelay(self.sensors.delay, self.simulator.spec.action_size)

    @cached_property
    def _process(self) -> Float:
        """Q (d, d), for the observation and the offsets, which stay as they are."""
        return np.diag(np.concatenate((np.square(self.process.noise), np.zeros(len(self._measurement.biased)))))

    def initial_state(self, n: int) -> PolicyState:
        """Robots at the mean start, as uncertain as starts are."""
        biased = self._measurement.biased
        size, extra = len(self.process.start), len(biased)
        covariance = np.zeros((size + extra, size + extra))
        covariance[:size, :size] = self.process.start_covariance
        offsets = size + np.arange(extra)
        covariance[offsets, offsets] = np.square(self.sensors.bias[biased])
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
            moved = self.process.bounded(predicted(covariance, change, self._process))
            fine = begun & np.isfinite(ahead.sum(axis=1) + moved.sum(axis=(1, 2)))
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

    def around(self, state: PolicyState, applied: Float, change: Float | None = None) -> Linearised:
        """What the simulator does around the estimates, after `applied` (n, act).

        Derivatives (n, obs, obs) that are known already are not taken anew.
        """
        given, _ = self._delay.shifted(state, applied)
        now = np.asarray(state[ESTIMATE])
        if change is not None:
            return Linearised(now, predict_in_chunks(self.simulator, now, given), change)
        return (self._for_one if len(now) == 1 else self._simulators).linearised(now, given)

    def _ahead(self, at: Float, given: Float, linear: Linearised | None) -> tuple[Float, Float]:
        """The state a step later (n, d), and its derivatives with respect to the state now (n, d, d)."""
        size = len(self.process.start)
        now = at[:, :size]
        if linear is None:
            linear = (self._for_one if len(at) == 1 else self._simulators).linearised(now, given)
            ahead = linear.ahead
        else:
            ahead = linear.ahead + (linear.change @ (now - linear.reference)[..., None])[..., 0]
        if at.shape[1] == size:
            return ahead, linear.change
        change = np.broadcast_to(np.eye(at.shape[1]), (len(at), at.shape[1], at.shape[1])).copy()
        change[:, :size, :size] = linear.change
        return np.concatenate((ahead, at[:, size:]), axis=1), change

    def _corrected(self, at: Float, covariance: Float, sensed: Float) -> tuple[Innovation, Float, Float]:
        """What was measured, the state (n, d) and its covariance (n, d, d) after the measurement."""
        measurement = self._measurement
        one = measurement.arrived(at, covariance, sensed)
        inner, surprise = one.covariance, one.surprise
        if (surprise > 1).any():
            root = measurement.raised(surprise, at.shape[1])
            covariance = self.process.bounded(covariance * root[:, :, None] * root[:, None])
            one = measurement.arrived(at, covariance, sensed)
        step = (one.gain @ one.values[..., None])[..., 0]
        left = updated(covariance, one.there, one.back, one.gain, one.noise)
        return Innovation(measurement, one, inner, step, at, covariance, left), at + step, left
