"""The Kalman filter of an AR(1) disturbance that is measured with noise, in textbook notation.

    x' = a x + w        w normal with variance Q = (1 - a^2) s^2
    y  = h x + v        v normal with variance R = (b c)^2

s is the stationary standard deviation of the disturbance x, a its correlation from step to step, and b the standard
deviation of the measurement noise. The gain h and the noise scale c of a step come with its measurement y. m and P are
the mean and variance of x, S^2 = h^2 P + R is the variance of the innovation y - h m.

Two kinds of measurement are not normal. A censored one is only known to lie beyond y: x then follows a truncated normal
distribution, which is replaced by the normal one with the same mean and variance. An outlier says nothing about x.
"""

# pyright: reportConstantRedefinition=false

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.truncated_normal import inverse_mills_ratio
from isthmus.core import Float

TINY = 1e-12
"""The smallest innovation variance."""
LEAST_INFORMATION = 1e-6
"""A censored measurement reduces the variance of x by at least this share."""


@dataclass(frozen=True)
class PseudoMeasurements:
    """Normal measurements (T, ...) that say the same about x as the censored and contaminated ones they replace."""

    values: Float  # y
    gain: Float  # h
    variances: Float
    """R; infinite for a measurement that is missing or an outlier."""


@dataclass(frozen=True)
class AR1Filter:
    """The filter of one disturbance, or of several where the parameters are arrays that broadcast."""

    std: Float | float  # s
    correlation: Float | float  # a
    measurement_std: Float | float  # b

    @property
    def process_variance(self) -> Float:
        """Q."""
        return np.asarray((1 - np.square(self.correlation)) * np.square(self.std))

    @property
    def prediction_std(self) -> Float:
        """The standard deviation of the innovation once the filter has settled, at gain 1: sqrt(P + R)."""
        Q, R = self.process_variance, np.square(self.measurement_std)
        # The Riccati equation P = a^2 P R / (P + R) + Q is quadratic in P.
        c = R * (1 - np.square(self.correlation)) - Q
        return np.sqrt((np.sqrt(np.square(c) + 4 * Q * R) - c) / 2 + R)

    def predict(self, m: Float, P: Float) -> tuple[Float, Float]:
        """Mean and variance of x one step later."""
        return self.correlation * m, np.square(self.correlation) * P + self.process_variance

    def update(self, m: Float, P: Float, y: Float, h: Float, R: Float) -> tuple[Float, Float]:
        """Mean and variance of x given a normal measurement."""
        K = self._gain(P, h, R)
        return m + K * (y - h * m), P * (1 - K * h)

    def log_likelihood(self, errors: ActionResiduals) -> Float:
        """The logarithm of how likely measurements (T, ...) are, of each series (...).

        An outlier counts in the update by the probability that it is none.
        """
        m, P = self._initial(errors.values)
        total = np.zeros_like(m)
        for t in range(len(errors.values)):
            y = errors[t]
            evidence = self._evidence(m, P, y)
            total += np.log(evidence.likelihood)
            gain = y.gain * P / evidence.S
            m, P = m + gain * evidence.score, np.maximum(P - np.square(gain) * evidence.information, 0.0)
            m, P = self.predict(m, P)
        return total

    def pseudo_measurements(self, errors: ActionResiduals) -> PseudoMeasurements:
        """The normal measurements that stand for measurements (T, ...).

        A measurement that is more likely an outlier than not is rejected.
        """
        values, variances = errors.values.copy(), self._measurement_variance(errors)
        m, P = self._initial(values)
        for t in range(len(values)):
            y, h, censored = errors[t], errors.gain[t], errors.censoring[t] != 0
            evidence, signal_variance = self._evidence(m, P, y), h**2 * P
            rejected = ~y.observed | (evidence.inlier < 0.5)
            information = evidence.information * signal_variance / evidence.S**2
            information = np.clip(information, LEAST_INFORMATION, 1.0)
            R = signal_variance * (1 - information) / information
            value = h * m + evidence.score / evidence.S * (signal_variance + R)
            variances[t] = np.where(censored, R, np.where(rejected, np.inf, variances[t]))
            values[t] = np.where(censored, value, values[t])
            m, P = self.predict(*self.update(m, P, values[t], h, variances[t]))
        return PseudoMeasurements(values, errors.gain, variances)

    def innovations(self, series: Float, measured: PseudoMeasurements) -> tuple[Float, Float]:
        """The innovations of several series (T, ..., m), and S at each step (T, ...).

        One of the series is the values that were `measured`. The others pass through the same linear filter, so a
        linear relation between the series also holds between their innovations. S is infinite where nothing was
        measured.
        """
        innovation, S = np.zeros_like(series), np.zeros_like(measured.variances)
        m, P = np.zeros_like(series[0]), self._initial(S)[1]
        for t, (y, h, R) in enumerate(zip(series, measured.gain, measured.variances, strict=True)):
            S[t] = np.sqrt(np.maximum(h**2 * P + R, TINY))
            innovation[t] = y - h[..., None] * m
            K = self._gain(P, h, R)
            m, P = self.predict(m + K[..., None] * innovation[t], P * (1 - K * h))
        return innovation, S

    @staticmethod
    def _gain(P: Float, h: Float, R: Float) -> Float:
        """K."""
        return h * P / np.maximum(h**2 * P + R, TINY)

    def _initial(self, series: Float) -> tuple[Float, Float]:
        """Mean and variance of x before the first of (T, ...) measurements."""
        m = np.zeros(np.broadcast_shapes(series.shape[1:], np.shape(self.std), np.shape(self.correlation)))
        return m, np.broadcast_to(np.square(self.std), m.shape)

    def _measurement_variance(self, errors: ActionResiduals) -> Float:
        """R."""
        return np.square(self.measurement_std * errors.noise_scale)

    def _evidence(self, m: Float, P: Float, y: ActionResiduals) -> "_Evidence":
        """What measurements of one step say about x with mean m and variance P."""
        S = np.sqrt(np.maximum(y.gain**2 * P + self._measurement_variance(y), TINY))
        innovation = y.values - y.gain * m
        z = innovation / S
        density, inlier = outliers.observed(innovation, S)
        likelihood = np.where(y.observed, density, 1.0)
        score, information = np.where(y.observed, inlier * z, 0.0), np.where(y.observed, inlier, 0.0)
        censored = ~y.observed & (y.censoring != 0)
        if censored.any():
            sign = y.censoring[censored]
            bound = sign * z[..., censored]
            beyond = inverse_mills_ratio(bound)
            likelihood[..., censored] = outliers.censored(bound)[0]
            score[..., censored], information[..., censored] = sign * beyond, beyond * (beyond - bound)
        return _Evidence(S, score, information, likelihood, inlier)


@dataclass(frozen=True)
class _Evidence:
    """What measurements say: x has mean m + (hP/S) score and variance P - (hP/S)^2 information after them."""

    S: Float
    score: Float
    information: Float
    likelihood: Float
    inlier: Float
    """Probability that a measurement is no outlier."""
