import numpy as np
import pytest

from isthmus.core import stream
from isthmus.vision.localiser.confidence import Calibration, calibration_error, fit_calibration, reliability


def test_confidence_becomes_the_share_that_is_right():
    rng = stream(0, "test")
    features = rng.normal(0, 2, (4000, 3))
    chance = 1 / (1 + np.exp(-(0.7 + 1.3 * features[:, 0] - 0.4 * features[:, 2])))
    right = rng.random(4000) < chance
    error = rng.rayleigh(0.004, 4000)
    fitted = fit_calibration(features, right, error, np.full(4000, 0.01), Calibration(std_scale=2.0))
    said = np.array([fitted.probability(one) for one in features])
    assert np.abs(said - chance).mean() < 0.03
    assert calibration_error(said, right) < 0.03
    assert fitted.std_scale == pytest.approx(2.0 * 0.004 * np.sqrt(2) / 0.01, rel=0.05)


def test_answers_that_are_all_right_give_finite_coefficients():
    features = stream(1, "test").normal(0, 1, (50, 3))
    fitted = fit_calibration(features, np.ones(50, bool), np.full(50, 0.01), np.full(50, 0.01), Calibration())
    assert np.isfinite(fitted.coefficients).all()
    assert fitted.probability(np.zeros(3)) > 0.8


def test_overconfidence_is_measured():
    confidence, right = np.full(100, 0.95), np.arange(100) < 60
    assert calibration_error(confidence, right) == pytest.approx(0.35)
    assert reliability(confidence, right) == [(pytest.approx(0.95), 0.6, 100)]
