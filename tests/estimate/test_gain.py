"""The Riccati recursion of the Kalman filter."""

import numpy as np
import pytest

from isthmus.estimate.gain import gain, innovation_covariance, predicted, steady_gain, updated


def test_a_scalar_system_comes_to_rest_at_the_root_of_its_riccati_equation():
    a, q, r = 0.9, 0.2, 0.5
    # p = a^2 p r / (p + r) + q, for the covariance p that is predicted
    p = np.roots([1.0, r - a**2 * r - q, -q * r]).max()
    found = steady_gain(np.array([[a]]), np.eye(1), np.array([[q]]), np.array([r]))
    assert found[0, 0] == pytest.approx(p / (p + r), rel=1e-9)


def test_a_covariance_stays_symmetric_and_positive_for_any_weight():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((1, 3, 3))
    covariance, noise = root @ root.transpose(0, 2, 1), np.array([0.1, 0.2])
    there, back = covariance[:, :2], covariance[:, :2, :2]
    left = updated(covariance, there, back, rng.standard_normal((1, 3, 2)), noise)
    assert np.allclose(left, left.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(left).min() > 0


def test_the_best_weight_leaves_the_least_variance():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((1, 3, 3))
    covariance = predicted(root @ root.transpose(0, 2, 1), np.eye(3)[None], 0.1 * np.eye(3))
    noise, there, back = np.array([0.1, 0.2]), covariance[:, :2], covariance[:, :2, :2]
    best = gain(there, innovation_covariance(back, noise))
    least = np.trace(updated(covariance, there, back, best, noise)[0])
    for _ in range(5):
        other = best + 0.1 * rng.standard_normal(best.shape)
        assert np.trace(updated(covariance, there, back, other, noise)[0]) > least
