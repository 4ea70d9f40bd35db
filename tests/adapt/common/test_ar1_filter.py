"""The AR(1) filter against simulated data and against an independent Kalman filter in textbook notation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_filter import AR1Filter, PseudoMeasurements

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


def path(rng, steps, correlation):
    x = np.empty((steps, 1))
    x[0] = rng.standard_normal()
    for t in range(1, steps):
        x[t] = correlation * x[t - 1] + np.sqrt(1 - correlation**2) * rng.standard_normal()
    return x


def observed(values):
    ones = np.ones(values.shape)
    return ActionResiduals(values, ones > 0, 0 * ones, ones, ones)


@given(st.integers(0, 1000), st.floats(0.3, 1.0), st.floats(0.05, 1.0))
def test_a_line_stays_what_it_is_when_both_its_sides_are_whitened(seed, lasting, blur):
    rng = np.random.default_rng(seed)
    x, shown = rng.standard_normal((30, 3)), rng.uniform(0, 1, 30)
    slopes = rng.standard_normal(3)
    seen = PseudoMeasurements(x @ slopes, shown, np.full(30, blur**2))
    new, _ = AR1Filter(1.0, lasting, blur).innovations(np.column_stack((x @ slopes, x)), seen)
    np.testing.assert_allclose(new[:, 0], new[:, 1:] @ slopes, atol=1e-9)


def test_whitened_noise_is_white():
    rng = np.random.default_rng(0)
    series = path(rng, 4000, 0.9) + 0.3 * rng.standard_normal((4000, 1))
    new, much = AR1Filter(1.0, 0.9, 0.3).innovations(
        series, PseudoMeasurements(series[:, 0], np.ones(4000), np.full(4000, 0.09))
    )
    new = new[:, 0] / much
    assert new.std() == pytest.approx(1.0, abs=0.03)
    assert abs(np.corrcoef(new[1:], new[:-1])[0, 1]) < 0.05


def bounded(values, side):
    values, side = np.asarray(values, dtype=float), np.asarray(side, dtype=float)
    return ActionResiduals(values, side == 0, side, np.ones(values.shape), np.ones(values.shape))


def test_errors_beyond_a_bound_are_completed_as_the_past_has_them():
    seen = AR1Filter(1.0, 1.0, 0.05).pseudo_measurements(bounded([1.5, 1.5, 0.2], [0, 0, 1]))
    np.testing.assert_array_equal(seen.values[:2], 1.5)
    np.testing.assert_allclose(seen.variances[:2], 0.05**2)
    assert seen.variances[2] > 100 * 0.05**2  # a bound that was known to be kept tells nothing


@pytest.mark.parametrize("bound", [-0.5, 0.3, 2.0])
def test_a_bound_tells_what_the_truncated_normal_does(bound):
    seen = AR1Filter(1.0, 1.0, 0.0).pseudo_measurements(bounded([bound], [1]))
    gain = 1 / (1 + seen.variances[0])
    z = np.random.default_rng(0).standard_normal(2_000_000)
    beyond = z[z > bound]
    assert gain * seen.values[0] == pytest.approx(beyond.mean(), abs=0.01)
    assert 1 - gain == pytest.approx(beyond.var(), abs=0.01)


def test_time_passes_where_nothing_shows():
    """What was left out of a series made the rest look as if it followed at once, and lines were seen in that."""
    rng = np.random.default_rng(0)
    x = path(rng, 6000, 0.9)
    errors = observed(x)
    seen = np.sin(np.arange(6000) / 3)[:, None] > 0
    errors = replace(errors, observed=seen)
    known = AR1Filter(1.0, 0.9, 0.01).pseudo_measurements(errors[:, 0])
    new, much = AR1Filter(1.0, 0.9, 0.01).innovations(x, known)
    assert np.isinf(much[~seen[:, 0]]).all()
    told_something = np.isfinite(much)
    assert told_something.sum() > 0.99 * seen.sum()  # hardly any is taken for odd
    new = new[told_something, 0] / much[told_something]
    assert new.std() == pytest.approx(1.0, abs=0.03)
    assert abs(np.corrcoef(new[1:], new[:-1])[0, 1]) < 0.05


@given(st.floats(0.01, 1), st.floats(0, 1), st.floats(0.001, 1))
def test_what_is_unforeseen_is_what_a_filter_comes_to(spread, lasting, blur):
    variance = spread**2
    for _ in range(20_000):
        known = variance * blur**2 / (variance + blur**2)
        variance, before = lasting**2 * known + (1 - lasting**2) * spread**2, variance
        if abs(variance - before) < 1e-9 * before:
            break
    assert AR1Filter(spread, lasting, blur).prediction_std == pytest.approx(np.sqrt(variance + blur**2), rel=2e-2)


def log_density(y, covariance):
    """Of the multivariate normal distribution about 0."""
    _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
    return -0.5 * (log_determinant + y @ np.linalg.solve(covariance, y))


def varied(rng, steps):
    """Measurements with gains and noise scales of their own, and how they covary under correlations of 0.7 and 0.95."""
    values, gain, noise_scale = rng.standard_normal(steps), rng.uniform(0.3, 1.4, steps), rng.uniform(0.5, 3, steps)
    lag = np.abs(np.arange(steps)[:, None] - np.arange(steps))
    covariances = [
        np.outer(gain, gain) * STD**2 * a**lag + np.diag(np.square(NOISE * noise_scale)) for a in (0.7, 0.95)
    ]
    column = (slice(None), None)
    return ActionResiduals(
        values[column], np.ones((steps, 1), np.bool_), np.zeros((steps, 1)), gain[column], noise_scale[column]
    ), covariances


def test_the_log_likelihood_is_that_of_the_joint_normal_distribution(monkeypatch):
    monkeypatch.setattr(outliers, "OUTLIER_SHARE", 1e-15)
    errors, covariances = varied(np.random.default_rng(0), 7)
    candidates = AR1Filter(np.full((2, 1), STD), np.array([[0.7], [0.95]]), np.full((2, 1), NOISE))
    expected = [[log_density(errors.values[:, 0], covariance)] for covariance in covariances]
    np.testing.assert_allclose(candidates.log_likelihood(errors), expected, rtol=1e-6)


def test_the_log_likelihood_leaves_out_what_was_not_observed(monkeypatch):
    monkeypatch.setattr(outliers, "OUTLIER_SHARE", 1e-15)
    errors, (covariance, _) = varied(np.random.default_rng(1), 7)
    seen = np.array([1, 0, 1, 1, 0, 0, 1], np.bool_)
    expected = log_density(errors.values[seen, 0], covariance[np.ix_(seen, seen)])
    found = AR1Filter(STD, 0.7, NOISE).log_likelihood(replace(errors, observed=seen[:, None]))
    assert found[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_log_likelihood_of_a_censored_step_is_that_of_lying_beyond(monkeypatch, sign):
    monkeypatch.setattr(outliers, "OUTLIER_SHARE", 1e-15)
    errors, (covariance, _) = varied(np.random.default_rng(2), 5)
    errors.censoring[-1], errors.observed[-1] = sign, False
    before, y = errors.values[:-1, 0], errors.values[-1, 0]
    weights = np.linalg.solve(covariance[:-1, :-1], covariance[:-1, -1])
    mean, std = weights @ before, math.sqrt(covariance[-1, -1] - weights @ covariance[:-1, -1])
    beyond = 0.5 * math.erfc(sign * (y - mean) / std / math.sqrt(2))
    expected = log_density(before, covariance[:-1, :-1]) + math.log(beyond)
    assert AR1Filter(STD, 0.7, NOISE).log_likelihood(errors)[0] == pytest.approx(expected, abs=1e-3)


@gains
def test_the_parameters_behind_measurements_are_the_most_likely(gain):
    _, errors = simulate(gain, 0.9, noise_scale=2.0)
    std, correlation, noise = np.array(
        [(STD, 0.9, NOISE), (1.3 * STD, 0.9, NOISE), (STD, 0.7, NOISE), (STD, 0.97, NOISE), (STD, 0.9, 1.5 * NOISE)]
    ).T[..., None]
    likely = AR1Filter(std, correlation, noise).log_likelihood(errors).sum(axis=1)
    assert likely.argmax() == 0


def test_an_outlier_hardly_moves_the_estimate():
    errors = observed(np.array([[0.3], [40.0], [0.2]]))
    measured = AR1Filter(STD, 0.9, NOISE).pseudo_measurements(errors)
    np.testing.assert_array_equal(np.isinf(measured.variances[:, 0]), [False, True, False])
    without = replace(errors, observed=np.array([[True], [False], [True]]))
    ar1 = AR1Filter(STD, 0.9, NOISE)
    odds = outliers.OUTLIER_SHARE / outliers.RANGE
    assert ar1.log_likelihood(errors)[0] == pytest.approx(ar1.log_likelihood(without)[0] + math.log(odds), abs=1e-6)


def test_a_series_of_one_step_has_one_innovation():
    measured = PseudoMeasurements(np.array([0.7]), np.array([0.5]), np.array([0.2]))
    innovation, std = AR1Filter(2.0, 0.9, 0.3).innovations(np.array([[0.7, 3.0]]), measured)
    np.testing.assert_array_equal(innovation, [[0.7, 3.0]])
    np.testing.assert_allclose(std, np.sqrt(0.5**2 * 2.0**2 + 0.2))


def test_a_bound_that_says_next_to_nothing_takes_a_millionth_of_the_variance():
    """Twenty deviations below the mean: all of the distribution is beyond it."""
    std, gain = 1.5, 0.6
    errors = ActionResiduals(np.array([-20.0]), np.array([False]), np.array([1.0]), np.array([gain]), np.array([1.0]))
    measured = AR1Filter(std, 0.9, 0.01).pseudo_measurements(errors)
    assert measured.variances[0] == pytest.approx((gain * std) ** 2 * (1 - 1e-6) / 1e-6)
