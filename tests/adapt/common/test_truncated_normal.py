import math

import numpy as np
import pytest

from isthmus.adapt.common.truncated_normal import inverse_mills_ratio, upper_tail

VALUES = np.array([-6.0, -2.5, -0.3, 0.0, 0.4, 1.7, 3.0, 3.99])


def test_the_upper_tail_is_the_normal_distributions():
    exact = [0.5 * math.erfc(value / math.sqrt(2)) for value in VALUES]
    np.testing.assert_allclose(upper_tail(VALUES), exact, atol=1.5e-7)


def test_the_inverse_mills_ratio_is_density_over_tail():
    exact = [math.exp(-(v**2) / 2) / math.sqrt(2 * math.pi) / (0.5 * math.erfc(v / math.sqrt(2))) for v in VALUES]
    np.testing.assert_allclose(inverse_mills_ratio(VALUES), exact, rtol=3e-3, atol=1e-6)


@pytest.mark.parametrize("value", [4.01, 6.0, 20.0])
def test_far_out_the_inverse_mills_ratio_is_that_of_the_asymptotic_series(value):
    exact = math.exp(-(value**2) / 2) / math.sqrt(2 * math.pi) / (0.5 * math.erfc(value / math.sqrt(2)))
    assert inverse_mills_ratio(np.array([value]))[0] == pytest.approx(exact, rel=2e-3)
