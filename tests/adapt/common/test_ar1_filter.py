"""The AR(1) filter against simulated data and against an independent Kalman filter in textbook notation."""

import math

import numpy as np
import pytest

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_filter import AR1Filter

STEPS, RUNS = 100, 300
STD, NOISE = 0.8, 0.25

gains = pytest.mark.parametrize("gain", [0.3, 0.6, 1.0, 1.4])
correlations = pytest.mark.parametrize("correlation", [0.5, 0.9])


def simulate(gain, correlation, noise_scale=1.0, limit=np.inf):
    """States x' = a x + w (T, runs), and measurements y = h x + v that are censored where they exceed `limit`."""
    rng = np.random.default_rng(0)
    x = np.empty((STEPS, RUNS))
    x[0] = STD * rng.standard_normal(RUNS)
    for t in range(1, STEPS):
        x[t] = correlation * x[t - 1] + np.sqrt(1 - correlation**2) * STD * rng.standard_normal(RUNS)
    y = gain * x + noise_scale * NOISE * rng.standard_normal(x.shape)
    below = y < limit
    full = np.ones(x.shape)
    return x, ActionResiduals(np.minimum(y, limit), below, 1.0 - below, gain * full, noise_scale * full)


def kalman(y, h, R, correlation):
    """Predicted means and variances of x at each step, for measurements y with gains h and noise variances R."""
    m, P = np.zeros(y.shape[1]), np.full(y.shape[1], STD**2)
    means, variances = np.empty_like(y), np.empty_like(y)
    for t in range(len(y)):
        means[t], variances[t] = m, P
        K = h[t] * P / (h[t] ** 2 * P + R[t])
        m, P = m + K * (y[t] - h[t] * m), P * (1 - K * h[t])
        m, P = correlation * m, correlation**2 * P + (1 - correlation**2) * STD**2
    return means, variances


def nominal_rejection_rate(S):
    """How often a normal innovation of standard deviation S is taken for an outlier (the gate is at even odds)."""
    share = outliers.OUTLIER_SHARE
    gate = np.sqrt(2 * np.log((1 - share) / (share / outliers.RANGE * S * math.sqrt(2 * math.pi))))
    return np.vectorize(math.erfc)(gate / math.sqrt(2)).mean()


@gains
@correlations
@pytest.mark.parametrize("noise_scale", [1.0, 2.0])
def test_clean_measurements_are_rejected_at_the_nominal_rate(gain, correlation, noise_scale):
    _, errors = simulate(gain, correlation, noise_scale)
    measured = AR1Filter(STD, correlation, NOISE).pseudo_measurements(errors)
    R = np.full(errors.values.shape, (noise_scale * NOISE) ** 2)
    _, P = kalman(errors.values, errors.gain, R, correlation)
    nominal = nominal_rejection_rate(np.sqrt(gain**2 * P + R))
    assert np.isinf(measured.variances).mean() == pytest.approx(nominal, abs=5 * np.sqrt(nominal / R.size))
    kept = np.isfinite(measured.variances)
    np.testing.assert_allclose(measured.variances[kept], R[kept])
    np.testing.assert_array_equal(measured.values[kept], errors.values[kept])


@gains
@correlations
@pytest.mark.parametrize("noise_scale", [1.0, 2.0])
def test_innovations_are_white_with_unit_variance(gain, correlation, noise_scale):
    _, errors = simulate(gain, correlation, noise_scale)
    ar1 = AR1Filter(STD, correlation, NOISE)
    innovation, std = ar1.innovations(errors.values[..., None], ar1.pseudo_measurements(errors))
    z = np.where(np.isfinite(std), innovation[..., 0] / std, 0.0)
    assert z.mean() == pytest.approx(0.0, abs=0.03)
    assert z.std() == pytest.approx(1.0, abs=0.03)
    for lag in (1, 2, 5):
        assert (z[lag:] * z[:-lag]).mean() == pytest.approx(0.0, abs=0.03)


@gains
@correlations
@pytest.mark.parametrize("limit", [np.inf, 0.3, -0.1])
def test_estimates_are_unbiased_and_as_uncertain_as_they_claim(gain, correlation, limit):
    x, errors = simulate(gain, correlation, limit=limit)
    assert (errors.censoring.mean() > 0.1) == (limit < 1)
    measured = AR1Filter(STD, correlation, NOISE).pseudo_measurements(errors)
    m, P = kalman(measured.values, measured.gain, measured.variances, correlation)
    z = (x - m) / np.sqrt(P)
    assert z.mean() == pytest.approx(0.0, abs=0.05)
    assert z.std() == pytest.approx(1.0, abs=0.05)
    assert (m * x).sum() / (m * m).sum() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("gain", [0.3, 0.6, 1.0, 1.4])
@pytest.mark.parametrize("bound", [-0.5, 0.1, 0.6])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_bound_gives_the_moments_of_the_state_beyond_it(gain, bound, sign):
    """Known: x ~ N(0, s^2) and sign (h x + v) > bound. The pseudo measurement gives the same mean and variance of x."""
    one = np.ones((1, 1))
    errors = ActionResiduals(sign * bound * one, one < 0, sign * one, gain * one, one)
    measured = AR1Filter(STD, 0.9, NOISE).pseudo_measurements(errors)
    R = measured.variances[0, 0]
    K = gain * STD**2 / (gain**2 * STD**2 + R)
    rng = np.random.default_rng(0)
    x = STD * rng.standard_normal(400_000)
    beyond = x[sign * (gain * x + NOISE * rng.standard_normal(x.shape)) > bound]
    assert K * measured.values[0, 0] == pytest.approx(beyond.mean(), abs=0.01)
    assert STD**2 * (1 - K * gain) == pytest.approx(beyond.var(), abs=0.01)
