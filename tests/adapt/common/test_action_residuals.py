"""Errors of commands in half ranges, at ranges that are neither 1 nor about 0."""

import numpy as np
import pytest

from isthmus.adapt.common.action_residuals import LEAST_GAIN, LIMIT_MARGIN, ActionResiduals
from isthmus.adapt.common.effective_action import EffectiveAction

HALF, MIDDLE = np.array([2.0, 0.5]), np.array([1.0, -3.0])


def residuals(commanded, done, gain, *, saturates, errors=None):
    """From commands and effects in half ranges about the middle."""
    commanded, done, gain = (np.asarray(one, dtype=float) for one in (commanded, done, gain))
    found = EffectiveAction(MIDDLE + HALF * done, np.zeros_like(done) if errors is None else errors, gain)
    return ActionResiduals.of(MIDDLE + HALF * commanded, HALF, found, saturates=saturates, middle=MIDDLE)


def test_inside_the_limits_an_error_is_the_effect_less_the_command():
    found = residuals([[0.5, -0.2]], [[0.9, -0.9]], [[1.0, 0.25]], saturates=True)
    np.testing.assert_allclose(found.values, [[0.4, -0.7]])
    assert found.observed.all()
    assert not found.censoring.any()
    np.testing.assert_allclose(found.gain, 1.0)
    np.testing.assert_allclose(found.noise_scale, [[1.0, 4.0]])  # what hardly shows is seen through more noise


def test_at_the_limit_an_error_is_bounded_by_what_reaches_it():
    near = 1 - LIMIT_MARGIN / 2
    found = residuals([[0.5, -0.2]], [[near, -1.4]], [[1.0, 1.0]], saturates=True)
    np.testing.assert_allclose(found.values, [[0.5, -0.8]])
    assert not found.observed.any()
    np.testing.assert_array_equal(found.censoring, [[1.0, -1.0]])
    assert residuals([[0.5, 0]], [[1 - 2 * LIMIT_MARGIN, 0]], [[1.0, 1.0]], saturates=True).observed.all()


def test_what_hardly_shows_tells_neither_an_error_nor_a_bound():
    found = residuals([[0.5, 0.5]], [[0.6, 1.5]], np.full((1, 2), LEAST_GAIN / 2), saturates=True)
    assert not found.observed.any()
    assert not found.censoring.any()
    np.testing.assert_allclose(found.noise_scale, 1 / LEAST_GAIN)


def test_without_saturation_errors_are_as_found_and_show_by_their_gain():
    errors = np.array([[0.3, -0.1]])
    found = residuals([[0.5, -0.2]], [[1.7, -0.9]], [[0.6, 0.9]], saturates=False, errors=errors)
    np.testing.assert_array_equal(found.values, errors)
    np.testing.assert_array_equal(found.gain, [[0.6, 0.9]])
    np.testing.assert_array_equal(found.noise_scale, 1.0)
    assert not found.censoring.any()


@pytest.mark.parametrize(
    ("commanded", "done", "observed"),
    [(0.9, 1.0, True), (1.3, 1.0, False), (-1.3, -1.01, False), (1.3, 0.8, True), (-1.3, -1.2, True), (-0.9, -1, True)],
)
def test_a_command_beyond_the_limit_that_came_to_the_limit_tells_nothing(commanded, done, observed):
    found = residuals([[commanded, 0.0]], [[done, 0.0]], [[1.0, 1.0]], saturates=False)
    assert found.observed[0, 0] == observed


def test_what_was_expected_is_taken_off_and_rows_are_taken_of_every_array():
    found = residuals([[0.5, -0.2], [0, 0]], [[0.9, -0.9], [0.1, 0.2]], np.ones((2, 2)), saturates=True)
    np.testing.assert_allclose(found.less(np.full((2, 2), 0.1)).values, found.values - 0.1)
    assert found[1:].values.shape == found[1:].observed.shape == found[1:].noise_scale.shape == (1, 2)


def test_ranges_are_about_zero_unless_another_middle_is_given():
    found = EffectiveAction(np.array([[0.4, -0.1]]), np.zeros((1, 2)), np.ones((1, 2)))
    errors = ActionResiduals.of(np.array([[0.2, 0.1]]), HALF, found, saturates=True)
    np.testing.assert_allclose(errors.values, [[0.1, -0.4]])
