import numpy as np
import pytest

from isthmus.core import stream
from isthmus.models.linear_residual import fit_linear_residual


def test_a_linear_error_is_found():
    rng = stream(0)
    inputs, origin = 3 + 2 * rng.standard_normal((200, 4)), np.repeat(np.arange(10), 20)
    errors = inputs @ rng.standard_normal((4, 2)) + [0.5, -1.0]
    residual = fit_linear_residual(inputs, errors, origin)
    np.testing.assert_allclose(residual(inputs), errors, atol=1e-4)


@pytest.mark.parametrize("episodes", [1, 10])
def test_where_nothing_is_to_be_gained_or_told_there_is_no_residual(episodes):
    rng = stream(1)
    origin = np.repeat(np.arange(episodes), 40 // episodes)
    residual = fit_linear_residual(rng.standard_normal((40, 20)), rng.standard_normal((40, 2)), origin)
    np.testing.assert_array_equal(residual(rng.standard_normal((5, 20))), 0.0)


def test_no_error_is_expected_that_is_larger_than_any_seen():
    inputs, origin = np.linspace(-1, 1, 50)[:, None], np.arange(50) // 10
    residual = fit_linear_residual(inputs, 2 * inputs, origin)
    assert residual(np.array([[100.0]])) == pytest.approx(2.0)
