"""Take out of a series what its own past foretells, as the Kalman filter of a disturbance does."""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.truncated_normal import inverse_mills_ratio
from isthmus.core import Bool, Float

TINY = 1e-12
LEAST_INFORMATION = 1e-6
"""Share of a variance that a bound takes away at least."""


@dataclass(frozen=True)
class PseudoMeasurements:
    """Errors as they were seen (T, ...)."""

    values: Float
    gain: Float
    """The share of an error that shows."""
    variances: Float
    """The variance of what it is blurred by; infinite where nothing was seen."""


@dataclass(frozen=True)
class AR1Filter:
    """A disturbance of one actuator that lasts, seen through a blur."""

    std: float
    correlation: float
    measurement_std: float

    def pseudo_measurements(self, errors: ActionResiduals) -> PseudoMeasurements:
        """What errors (T, ...) tell of the disturbance.

        One that is only known to lie beyond a bound is replaced by the blurred one from which the same mean and
        variance of the disturbance would follow. One that rather comes from something else tells nothing.
        """
        values, variances = errors.values.copy(), np.square(self.measurement_std * errors.noise_scale)
        expected, variance = np.zeros_like(values[0]), np.full_like(values[0], self.std**2)
        for t, sign in enumerate(errors.censoring):
            h, bounded = errors.gain[t], sign != 0
            signal_variance = h**2 * variance
            innovation_variance = np.maximum(signal_variance + variances[t], TINY)
            rejected = ~errors.observed[t] | _is_outlier(values[t] - h * expected, innovation_variance)
            innovation_std = np.sqrt(innovation_variance)
            bound = sign * (values[t] - h * expected) / innovation_std
            beyond = inverse_mills_ratio(bound)
            information = beyond * (beyond - bound) * signal_variance / innovation_std**2
            information = np.clip(information, LEAST_INFORMATION, 1.0)
            pseudo_variance = signal_variance * (1 - information) / information
            variances[t] = np.where(bounded, pseudo_variance, np.where(rejected, np.inf, variances[t]))
            pseudo_value = h * expected + sign * beyond / innovation_std * (signal_variance + pseudo_variance)
            values[t] = np.where(bounded, pseudo_value, values[t])
            gain = h * variance / np.maximum(signal_variance + variances[t], TINY)
            expected = self.correlation * (expected + gain * (values[t] - h * expected))
            variance = self._propagated(variance * (1 - gain * h))
        return PseudoMeasurements(values, errors.gain, variances)

    def innovations(self, series: Float, measured: PseudoMeasurements) -> tuple[Float, Float]:
        """What is new in each step of several series (T, ..., m), and how much is to be expected there (T, ...).

        One of them is an error as it was `measured`; the others go through the same filter, so that lines between them
        stay what they are. In a step that tells nothing, infinitely much is to be expected.
        """
        innovation, innovation_std = np.zeros_like(series), np.zeros_like(measured.variances)
        expected, variance = np.zeros_like(series[0]), np.full_like(innovation_std[0], self.std**2)
        for t, (row, share, noise) in enumerate(zip(series, measured.gain, measured.variances, strict=True)):
            innovation_variance = np.maximum(share**2 * variance + noise, TINY)
            gain = share * variance / innovation_variance
            innovation_std[t] = np.sqrt(innovation_variance)
            innovation[t] = row - share[..., None] * expected
            variance = self._propagated(variance * (1 - gain * share))
            expected = self.correlation * (expected + gain[..., None] * innovation[t])
        return innovation, innovation_std

    def _propagated(self, variance: Float) -> Float:
        """Of what is known, a step later."""
        return self.correlation**2 * variance + (1 - self.correlation**2) * self.std**2


def _is_outlier(residual: Float, variance: Float) -> Bool:
    """Whether errors are more likely to come from something else."""
    return np.asarray(outliers.observed(residual, np.sqrt(variance))[1] < 0.5, dtype=np.bool_)
