import numpy as np
import pytest

from isthmus.core.ridge import NormalEquations, held_out_residuals, one_standard_error_rule


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 4))
    y = x @ rng.standard_normal((4, 2)) + 0.5 * rng.standard_normal((60, 2))
    return x, y, rng.uniform(0.2, 2.0, 60)


def augmented(x, y, weights, penalty):
    """Ridge regression as least squares with a row for each penalised weight."""
    rows = np.vstack((weights[:, None] * x, np.sqrt(penalty) * np.eye(x.shape[1])))
    targets = np.vstack((weights[:, None] * y, np.zeros((x.shape[1], y.shape[1]))))
    return np.linalg.lstsq(rows, targets)[0]


@pytest.mark.parametrize("penalty", [0.01, 3.0, 100.0])
def test_weights_are_the_minimum_of_the_penalised_squares(data, penalty):
    x, y, weights = data
    np.testing.assert_allclose(NormalEquations.of(x, y, weights).ridge(penalty), augmented(x, y, weights, penalty))
    np.testing.assert_allclose(NormalEquations.of(x, y).ridge(penalty), augmented(x, y, np.ones(60), penalty))


@pytest.mark.parametrize("per_row", [False, True])
def test_a_row_is_predicted_by_a_fit_to_the_other_folds(data, per_row):
    x, y, weights = data
    folds, penalties = np.arange(60) % 7, (0.1, 5.0)
    found = held_out_residuals(x, y, folds, penalties, weights=weights, per_row=per_row)
    assert found.shape == (2, 60, 2)
    for row, penalty in enumerate(penalties):
        for fold in range(7):
            out = folds == fold
            times = np.count_nonzero(~out) if per_row else 1
            fit = augmented(x[~out], y[~out], weights[~out], times * penalty)
            np.testing.assert_allclose(found[row, out], y[out] - x[out] @ fit)
    if not per_row:  # which is the default
        np.testing.assert_array_equal(held_out_residuals(x, y, folds, penalties, weights=weights), found)


def test_an_infinite_penalty_and_a_single_fold_fit_nothing(data):
    x, y, _ = data
    np.testing.assert_array_equal(held_out_residuals(x, y, np.arange(60) % 3, (np.inf,))[0], y)
    np.testing.assert_array_equal(held_out_residuals(x, y, np.zeros(60, np.int64), (1.0,))[0], y)


@pytest.mark.parametrize(("away", "taken"), [(2.48, 1), (2.41, 2)])
def test_the_preferred_candidate_within_one_standard_error_of_the_best_is_taken(away, taken):
    """The second is worse than the best by 1 on average, with a standard error of sqrt(2 away^2 / 3) / 2 over folds."""
    best = np.array([1.0, 2.0, 3.0, 4.0])
    second = best + 1 + np.array([-away, 0, 0, away])
    assert one_standard_error_rule(np.stack((best + 5, second, best))) == taken
    assert one_standard_error_rule(np.stack((best + 5, second, best, second))) == taken


def test_a_candidate_that_is_worse_in_every_fold_is_not_taken():
    best = np.array([1.0, 2.0, 3.0, 4.0])
    assert one_standard_error_rule(np.stack((best + 1e-6, best))) == 1
