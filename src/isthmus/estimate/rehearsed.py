"""What a filter would show a policy: simulations of a rehearsal get the noise and the offsets that were estimated."""

from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Rows
from isthmus.estimate.filter import Filter, SensorModel
from isthmus.estimate.kalman import KalmanFilter
from isthmus.estimate.stage import FilterStage
from isthmus.sim.sensitivity import predict_in_chunks

NUDGE = 0.1
"""Half ranges by which actions are changed to see what comes of it."""
LEAST = 1e-12
"""No effect is smaller."""


@dataclass(frozen=True)
class Sensing:
    """Sensors as they seem to be, and who may stand behind them.

    A delay is not among it: to a filter, sensors and commands that are late are the same, and rehearsals have the
    latter.
    """

    kalman: KalmanFilter
    """Sensors, physics and the simulator's error as innovations show them."""
    model: mujoco.MjModel
    """The robot with those physics."""
    filter: Filter
    shown: Filter
    """What could stand in its place, and shows the sensors as they are."""

    def largest_disturbance(self, observations: Float, actions: Float) -> Float:
        """Standard deviations (act,), in half ranges, of disturbances of the actions that the filter leaves room for.

        Estimates (n, obs) are not exact, and what they are off by looks like a disturbance to who compares them with
        the simulator. A real one would show in innovations, as an error of the simulator as large as its effect.
        """
        simulator, act = self.kalman.simulator, actions.shape[1]
        nudges = np.vstack((np.zeros(act), NUDGE * np.diag(simulator.spec.half_range)))
        tried = (actions[:, None] + nudges).reshape(-1, act)
        seen = predict_in_chunks(simulator, np.repeat(observations, act + 1, axis=0), tried)
        seen = seen.reshape(len(observations), act + 1, -1)
        effect = np.median(np.abs(seen[:, 1:] - seen[:, :1]), axis=0) / NUDGE  # (act, obs)
        return (self.kalman.process.noise / np.maximum(effect, LEAST)).min(axis=1)

    def stage(self, n: int, rng: np.random.Generator) -> "NoisyStage":
        """Noisy sensors of n simulations, with the filter behind them."""
        actions = self.kalman.simulator.spec.action_size
        return NoisyStage(self.kalman.sensors, FilterStage(lambda: self.filter, n, actions), n, rng)


class NoisyStage:
    """An `Estimator` of simulations whose state is known: it adds noise and offsets, and a filter does the rest."""

    def __init__(self, sensors: SensorModel, stage: FilterStage, n: int, rng: np.random.Generator) -> None:
        """Draw from `rng`, for all n simulations whenever any of them is looked at."""
        self._sensors, self._stage, self._rng = sensors, stage, rng
        self._offset = np.zeros((n, len(sensors.sensed)))

    def begin(self, sensed: Float, rows: Rows) -> Float:
        """Draw offsets for the episodes that begin in `rows`, and estimate their first observations (m, obs)."""
        self._offset[rows] = (self._sensors.bias * self._rng.standard_normal(self._offset.shape))[rows]
        return self._stage.begin(self._noisy(sensed, rows), rows)

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        """Estimates (m, obs) of `rows` after `applied` (m, act)."""
        return self._stage(self._noisy(sensed, rows), applied, rows)

    def _noisy(self, true: Float, rows: Rows) -> Float:
        noise = self._sensors.noise * self._rng.standard_normal(self._offset.shape)
        seen = true.copy()
        seen[:, self._sensors.sensed] += (self._offset + noise)[rows]
        return seen
