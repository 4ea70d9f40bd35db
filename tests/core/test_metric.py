import numpy as np
import pytest

from isthmus.core.metric import Metric

TARGETS, SCALE = np.array([0, 2]), np.array([0.5, 4.0])
ROOT = np.array([[1.0, 0.0], [3.0, 2.0]])
ERRORS = np.array([[1.0, 100.0, 2.0]])


def test_errors_are_weighed_in_steps_and_what_is_no_target_does_not_count():
    metric = Metric(TARGETS, SCALE, ROOT)
    np.testing.assert_allclose(metric.scaled(ERRORS), [[2.0, 0.5]])
    error = np.array([2.0, 0.5])
    assert np.square(metric.weigh(ERRORS)).sum() == pytest.approx(error @ (ROOT @ ROOT.T) @ error)


def test_in_an_even_metric_all_targets_count_alike():
    np.testing.assert_allclose(Metric.even(TARGETS, SCALE).weigh(ERRORS), [[2.0, 0.5]])
    assert Metric.even(TARGETS, SCALE).effort == 0.0


def test_an_evened_metric_has_the_same_trace_and_the_same_effort():
    metric = Metric(TARGETS, SCALE, ROOT, effort=0.3)
    evened = metric.evened()
    np.testing.assert_allclose(evened.root @ evened.root.T, 7.0 * np.eye(2))  # (1 + 9 + 4) / 2
    assert evened.effort == metric.effort


def test_stressed_targets_count_more():
    stressed = Metric.even(TARGETS, SCALE).stressing(np.array([False, True]), 5.0)
    np.testing.assert_allclose(stressed.weigh(ERRORS), [[2.0, 2.5]])
