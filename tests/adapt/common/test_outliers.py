import math

import numpy as np
import pytest

from isthmus.adapt.common import outliers
from isthmus.adapt.common.outliers import OUTLIER_SHARE, RANGE


@pytest.mark.parametrize(("residual", "std"), [(0.0, 1.0), (0.7, 0.3), (-2.0, 0.5), (30.0, 2.0)])
def test_an_observed_error_is_normal_or_anywhere_in_the_range(residual, std):
    normal = 0.98 * math.exp(-0.5 * (residual / std) ** 2) / (std * math.sqrt(2 * math.pi))
    chance, inlier = outliers.observed(np.array([residual]), np.array([std]))
    assert chance[0] == pytest.approx(normal + 0.02 / 6)
    assert inlier[0] == pytest.approx(normal / (normal + 0.02 / 6))


@pytest.mark.parametrize("distance", [-1.0, 0.5, 3.0])
def test_a_censored_error_is_normal_or_on_either_side(distance):
    normal = 0.98 * 0.5 * math.erfc(distance / math.sqrt(2))
    chance, inlier = outliers.censored(np.array([distance]))
    assert chance[0] == pytest.approx(normal + 0.01, abs=1e-6)
    assert inlier[0] == pytest.approx(normal / (normal + 0.01), abs=1e-4)


def test_the_densities_add_up():
    x = np.linspace(-RANGE / 2, RANGE / 2, 60_001)
    chance, _ = outliers.observed(x, np.full_like(x, 0.4))
    assert np.trapezoid(chance, x) == pytest.approx(1.0, abs=1e-6)
    assert OUTLIER_SHARE < 0.1
