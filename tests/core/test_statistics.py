import math

import numpy as np
import pytest

from isthmus.core.statistics import PairedGain, standard_error


def test_the_standard_error_is_the_deviation_over_the_root_of_the_number():
    values = np.array([1.0, 2.0, 4.0, 9.0])  # squares about the mean 4: 9 + 4 + 0 + 25
    assert standard_error(values) == pytest.approx(math.sqrt(38 / 3 / 4))
    assert standard_error(values, ddof=0) == pytest.approx(math.sqrt(38 / 4 / 4))


def test_standard_errors_are_taken_over_the_first_axis():
    values = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(standard_error(values), [standard_error(column) for column in values.T])


def test_standard_errors_cover_the_true_mean_as_often_as_they_should():
    samples = np.random.default_rng(0).standard_normal((400, 2000))
    within = np.abs(samples.mean(axis=0)) < 2 * standard_error(samples)
    assert within.mean() == pytest.approx(0.9545, abs=0.015)


def test_a_gain_is_paired_over_the_samples_that_both_have_had():
    ours, theirs = np.array([3.0, 5.0, 4.0, 100.0]), np.array([1.0, 4.0, 1.0])
    gain = PairedGain.of(ours, theirs)
    assert gain.mean == pytest.approx(2.0)
    assert gain.standard_error == pytest.approx(1 / math.sqrt(3))
    assert PairedGain.of(ours, theirs, ddof=0).standard_error == pytest.approx(math.sqrt(2) / 3)
    assert PairedGain.of(theirs, ours).mean == pytest.approx(-2.0)


@pytest.mark.parametrize(("least", "by", "exceeds"), [(0, 3.9, True), (0, 4, False), (0.4, 3, True), (0.4, 3.3, False)])
def test_a_gain_exceeds_a_threshold_by_standard_errors(least, by, exceeds):
    assert PairedGain(2.0, 0.5).exceeds(least, by=by) == exceeds


def test_a_gain_is_compared_with_nothing_where_no_threshold_is_given():
    assert PairedGain(0.5, 0.2).exceeds(by=2.0)
    assert not PairedGain(-0.5, 0.0).exceeds(by=2.0)
