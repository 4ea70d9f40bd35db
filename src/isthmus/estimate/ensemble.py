"""An ensemble Kalman filter: a small number of simulations whose spread says how sure the estimate is.

Every member is stepped by the simulator from its own state, so that some go through a contact and others do not yet.
The covariance is that of the members; nothing is linearised. After a measurement v (measured less expected)

    mean   <- mean + K v
    member <- member - K H (member - mean) / 2       deviations, as much smaller as the covariance is (DEnKF)

Members are simulated in the coarse simulator where there is one, and all of them are moved by what the exact one makes
of their mean. A small ensemble shows correlations that are not there: covariances are drawn towards their diagonal, and
deviations are relaxed towards what they were before the measurement.

Random numbers depend on nothing but the step of the episode, which is in the state: the filter is pure.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from isthmus.core import Float, Int, PolicyState, Simulator
from isthmus.estimate.filter import BEGUN, ActionDelay, SensorModel
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.linearised import SimulatorPair
from isthmus.estimate.measurement import Measurement

MEMBERS, STEP = "estimator members", "estimator step"
"""Names in the state: the members (n, N, d) and the steps of the episode so far (n,)."""
RELAXATION = 0.05
"""Share of the standard deviation before a measurement that stays after it."""
LOCALISATION = 0.05
"""Share of every correlation that is taken for chance."""
LEAST = 1e-12
"""No standard deviation is smaller."""
KEPT = 4096
"""Steps whose random numbers are kept."""


@dataclass(frozen=True)
class EnsembleFilter:
    """The filter; it is given all it needs and keeps nothing."""

    simulator: Simulator
    sensors: SensorModel
    process: Process
    members: int = 24

    @staticmethod
    def of(one: KalmanFilter) -> "EnsembleFilter":
        """With the simulator, sensors and process of a Kalman filter."""
        return EnsembleFilter(one.simulator, one.sensors, one.process)

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

    def initial_state(self, n: int) -> PolicyState:
        """Members around the mean start, as far from it as starts are."""
        biased = self._measurement.biased
        size, extra = len(self.process.start), len(biased)
        root = np.linalg.cholesky(self.process.start_covariance + np.diag(np.full(size, 1e-12)))
        deviations = _draws(0, self.members, size + extra)
        deviations = (deviations - deviations.mean(axis=0)) * np.sqrt(self.members / (self.members - 1))
        away = np.concatenate((deviations[:, :size] @ root.T, deviations[:, size:] * self.sensors.bias[biased]), axis=1)
        first = np.concatenate((self.process.start, np.zeros(extra))) + away
        return {
            BEGUN: np.zeros(n, np.bool_),
            MEMBERS: np.broadcast_to(first, (n, *first.shape)).copy(),
            STEP: np.zeros(n, np.int64),
            **self._delay.initial_state(n),
        }

    def update(self, state: PolicyState, sensed: Float, applied: Float) -> tuple[Float, PolicyState]:
        """Estimates (n, obs), the mean of the members, and the next state."""
        begun, step = np.asarray(state[BEGUN]), np.asarray(state[STEP])
        given, later = self._delay.shifted(state, applied)
        members = np.asarray(state[MEMBERS])
        if begun.any():
            ahead = self._ahead(members, given, step)
            fine = begun & np.isfinite(ahead).all(axis=(1, 2))
            members = np.where(fine[:, None, None], ahead, members)
        members = self._corrected(members, sensed)
        estimate = members.mean(axis=1)[:, : len(self.process.start)]
        return estimate, {BEGUN: np.ones_like(begun), MEMBERS: members, STEP: step + 1, **later}

    def _ahead(self, members: Float, given: Float, step: Int) -> Float:
        """The members a step later (n, N, d), with the noise of the process."""
        count, numbers = members.shape[1:]
        size = len(self.process.start)
        simulators = self._for_one if len(members) == 1 else self._simulators
        _, ahead = simulators.ahead(members[..., :size].mean(axis=1), given, members[..., :size])
        noise = np.stack([_draws(1 + int(one), count, numbers)[:, :size] for one in step])
        return np.concatenate((ahead + self.process.noise * noise, members[..., size:]), axis=2)

    def _corrected(self, members: Float, sensed: Float) -> Float:
        """The members after what is `sensed` (n, obs)."""
        measurement = self._measurement
        mean = members.mean(axis=1)
        away = members - mean[:, None]
        one = measurement.arrived(mean, _covariance(away), sensed)
        if (one.surprise > 1).any():
            away = away * measurement.raised(one.surprise, members.shape[2])[:, None]
            one = measurement.arrived(mean, _covariance(away), sensed)
        weight = one.gain.transpose(0, 2, 1)  # (n, m, d)
        mean = mean + (one.values[:, None] @ weight)[:, 0]
        return mean[:, None] + _relaxed(away - measurement.of(away) @ weight / 2, away)


def _covariance(away: Float) -> Float:
    """Of members (n, d, d) that are `away` (n, N, d) from their mean, drawn towards its diagonal."""
    covariance = away.transpose(0, 2, 1) @ away / (away.shape[1] - 1)
    kept = np.full(covariance.shape[1:], 1 - LOCALISATION)
    np.fill_diagonal(kept, 1.0)
    return covariance * kept


def _relaxed(away: Float, before: Float) -> Float:
    """Deviations (n, N, d) with a standard deviation that is nearer to that of those `before` the measurement."""
    left, was = away.std(axis=1, keepdims=True), before.std(axis=1, keepdims=True)
    return away * (1 + RELAXATION * (was / np.maximum(left, LEAST) - 1))


@lru_cache(KEPT)
def _draws(step: int, members: int, numbers: int) -> Float:
    """Random numbers of a step (members, numbers), the same every time."""
    drawn = np.random.Generator(np.random.Philox(key=step)).standard_normal((members, numbers))
    drawn.flags.writeable = False
    return drawn
