"""What sensors with offsets measure of a state: an entry of the observation, and the offset of its sensor.

The state (n, d) of a filter is the observation, and after it an offset for each sensor that may have one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus.core import Float, Int
from isthmus.estimate.filter import SensorModel
from isthmus.estimate.gain import innovation_covariance

SURPRISING, MOST_SURPRISING = 2.0, 1e4
"""Mean squared innovation, in its own variance, from which a covariance is scaled up, and by how much at most."""
MISSING = 1e12
"""Noise variance of a value that did not arrive."""


@dataclass(frozen=True)
class Arrived:
    """What arrived, beside what was expected."""

    values: Float
    """Measured less expected (n, m); 0 where nothing arrived."""
    noise: Float
    """Variance of the noise in each (n, m)."""
    there: Float
    """H P (n, m, d)."""
    back: Float
    """H P H' (n, m, m)."""

    @cached_property
    def covariance(self) -> Float:
        """Of the values, as they were expected (n, m, m)."""
        return innovation_covariance(self.back, self.noise)

    @cached_property
    def _solved(self) -> Float:
        right = np.concatenate((self.values[..., None], self.there), axis=2)
        return np.asarray(np.linalg.solve(self.covariance, right), np.float64)

    @property
    def gain(self) -> Float:
        """K (n, d, m)."""
        return self._solved[..., 1:].transpose(0, 2, 1)

    @cached_property
    def surprise(self) -> Float:
        """By how much the variance of the observation is too small for what arrived (n,): 1 where it is not."""
        share = (self.values * self._solved[..., 0]).sum(axis=1)
        count = np.maximum((self.noise < MISSING).sum(axis=1), 1)
        return np.clip(share / count / SURPRISING, 1.0, MOST_SURPRISING)


@dataclass(frozen=True)
class Measurement:
    """H of the equations, which is never written down."""

    sensors: SensorModel
    size: int
    """Numbers in an observation."""

    @cached_property
    def biased(self) -> Int:
        """The sensors that may have an offset (b,), by their place among the sensors."""
        return np.flatnonzero(self.sensors.bias > 0)

    def of(self, states: Float) -> Float:
        """What is measured (..., m) of states (..., d)."""
        shown = states[..., self.sensors.sensed]
        shown[..., self.biased] += states[..., self.size :]
        return shown

    def covariances(self, covariance: Float) -> tuple[Float, Float]:
        """H P (n, m, d) and H P H' (n, m, m)."""
        rows, biased, size = self.sensors.sensed, self.biased, self.size
        there = covariance[:, rows]
        there[:, biased] += covariance[:, size:]
        back = there[:, :, rows]
        back[:, :, biased] += there[:, :, size:]
        return there, back

    def arrived(self, at: Float, covariance: Float, sensed: Float) -> Arrived:
        """What is `sensed` (n, obs) in states (n, d) of such covariance (n, d, d)."""
        shown = sensed[:, self.sensors.sensed]
        there = np.isfinite(shown)
        values = np.where(there, shown - self.of(at), 0.0)
        return Arrived(values, np.where(there, np.square(self.sensors.noise), MISSING), *self.covariances(covariance))

    def raised(self, factor: Float, numbers: int) -> Float:
        """Factors (n, d) for deviations of a state of so many numbers: of the observation, and not of offsets."""
        root = np.ones((len(factor), numbers))
        root[:, : self.size] = np.sqrt(factor)[:, None]
        return root
