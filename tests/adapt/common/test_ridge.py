"""Which penalty the regression of errors takes, compared with a plain implementation of the rule."""

import numpy as np
import pytest

from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ridge import FOLDS, PENALTIES, _best_penalty, _folds, _nll, error_sizes, fit_ridge
from isthmus.adapt.settings import Components

EPISODES, STEPS, FEATURES = 10, 15, 4


def problem(seed, slope):
    rng = np.random.default_rng(seed)
    n = EPISODES * STEPS
    x = np.hstack((np.ones((n, 1)), rng.standard_normal((n, FEATURES - 1))))
    y = x @ (slope * rng.standard_normal(FEATURES)) + rng.standard_normal(n)
    return x, y, np.arange(n) // STEPS


def errors_of(y):
    ones = np.ones((len(y), 1))
    return ActionResiduals(y[:, None], ones > 0, 0 * ones, ones, ones)


def ridge(x, y, penalty):
    if np.isinf(penalty):
        return np.zeros(x.shape[1])
    return np.linalg.lstsq(
        np.vstack((x, np.sqrt(penalty) * np.eye(x.shape[1]))), np.concatenate((y, np.zeros(x.shape[1])))
    )[0]


def losses(x, y, episodes):
    """Squares left in each fold (penalties, folds) by fits to the others: two episodes are a fold."""
    fold = episodes // 2
    return np.array(
        [
            [
                np.square(y[fold == k] - x[fold == k] @ ridge(x[fold != k], y[fold != k], penalty)).sum()
                for k in range(5)
            ]
            for penalty in (np.inf, *reversed(PENALTIES))
        ]
    )


@pytest.mark.parametrize("slope", [0.0, 0.05, 0.12, 0.3, 1.0])
def test_the_strongest_penalty_within_one_standard_error_of_the_best_is_taken(slope):
    differs = 0
    for seed in range(6):
        x, y, episodes = problem(seed, slope)
        left = losses(x, y, episodes)
        assert left.shape[1] == FOLDS
        best = left.sum(axis=1).argmin()
        more = left - left[best]
        taken = next(row for row, one in enumerate(more) if one.mean() <= one.std(ddof=1) / np.sqrt(5))
        differs += taken != best
        found = fit_ridge(x, errors_of(y), episodes, episodes, AR1Disturbance.none(1))
        penalty = (np.inf, *reversed(PENALTIES))[taken]
        np.testing.assert_allclose(found.weights[:, 0], ridge(x, y, penalty), atol=1e-9)
        assert found.rmse[0] == pytest.approx(np.sqrt(left[taken].sum() / len(y)))
        assert found.baseline_rmse[0] == pytest.approx(np.sqrt(np.square(y).mean()))
    assert differs  # the rule makes a difference


def test_rows_count_by_the_innovation_that_is_expected_of_them():
    """Where a disturbance lasts, a regression on the innovations finds slopes that one on the errors would not."""
    rng = np.random.default_rng(0)
    runs, steps, a, s, b = 40, 60, 0.95, 0.8, 0.05
    gain = rng.uniform(0.3, 1.0, (steps, runs))
    x = np.empty((steps, runs))
    x[0] = s * rng.standard_normal(runs)
    for t in range(1, steps):
        x[t] = a * x[t - 1] + np.sqrt(1 - a**2) * s * rng.standard_normal(runs)
    command = np.concatenate((np.zeros((1, runs)), -x[:-1])) + 0.3 * rng.standard_normal(x.shape)  # goes along with it
    error = gain * x - 0.4 * command + b * rng.standard_normal(x.shape)

    def in_runs(values):
        return values.T.reshape(-1, 1)

    ones = np.ones((runs * steps, 1))
    errors = ActionResiduals(in_runs(error), ones > 0, 0 * ones, in_runs(gain), ones)
    episodes = np.repeat(np.arange(runs), steps)
    known = AR1Disturbance(np.array([s]), np.array([a]), np.array([b]), saturates=False)
    whitened, plain = (
        fit_ridge(in_runs(command), errors, episodes, episodes, one) for one in (known, AR1Disturbance.none(1))
    )
    assert whitened.weights[0, 0] == pytest.approx(-0.4, abs=0.03)
    assert plain.weights[0, 0] < -0.6
    assert whitened.nll[0] < plain.nll[0]


def test_few_episodes_are_cut_into_blocks_of_rows_and_many_stay_whole():
    assert _folds(np.repeat([3, 7], 5)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert _folds(np.repeat([2, 3, 5, 7, 11], 2)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert _folds(np.repeat(np.arange(10), 1)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_the_size_of_errors_is_their_root_mean_square_over_the_gain():
    rng = np.random.default_rng(0)
    values, gain = rng.standard_normal((50, 2)), np.broadcast_to([0.5, 0.8], (50, 2))
    errors = ActionResiduals(values, np.ones((50, 2), np.bool_), np.zeros((50, 2)), gain, np.ones((50, 2)))
    expected = np.sqrt(np.square(values).mean(axis=0)) / [0.5, 0.8]
    np.testing.assert_allclose(error_sizes(errors), expected, rtol=1e-12)
    nothing = ActionResiduals(values, np.zeros((50, 2), np.bool_), np.ones((50, 2)), gain, np.ones((50, 2)))
    np.testing.assert_array_equal(error_sizes(nothing), 0.0)


def test_rows_count_by_how_surely_they_are_known():
    x, y, episodes = problem(3, 0.3)
    std = np.where(episodes % 2, 5.0, 1.0)
    y = np.where(episodes % 2, y + 10 * x[:, 1], y)  # of rows that tell little, which speak for another slope
    fold = episodes // 2
    penalties = (np.inf, *reversed(PENALTIES))
    missed = np.array(
        [
            np.concatenate(
                [
                    y[fold == k] - x[fold == k] @ ridge((x / std[:, None])[fold != k], (y / std)[fold != k], penalty)
                    for k in range(5)
                ]
            )
            for penalty in penalties
        ]
    )
    left = np.array([[np.square((one / std)[fold == k]).sum() for k in range(5)] for one in missed])
    more = left - left[left.sum(axis=1).argmin()]
    taken = next(row for row, one in enumerate(more) if one.mean() <= one.std(ddof=1) / np.sqrt(5))
    unweighed = np.array([[np.square(one[fold == k]).sum() for k in range(5)] for one in missed])
    apart = unweighed - unweighed[unweighed.sum(axis=1).argmin()]
    assert taken != next(row for row, one in enumerate(apart) if one.mean() <= one.std(ddof=1) / np.sqrt(5))
    penalty, rest = _best_penalty(x, y, 1 / std, fold, penalties)
    assert penalty == penalties[taken]
    np.testing.assert_allclose(rest, missed[taken], rtol=1e-6)


def test_without_cross_validation_the_weakest_penalty_is_taken_however_much_it_overfits():
    rng = np.random.default_rng(0)
    x, y, episodes = rng.standard_normal((60, 40)), rng.standard_normal(60), np.arange(60) // 6
    found = fit_ridge(
        x, errors_of(y), episodes, episodes, AR1Disturbance.none(1), components=Components(cross_validation=False)
    )
    np.testing.assert_allclose(found.weights[:, 0], ridge(x, y, 1.0), rtol=1e-6)


@pytest.mark.parametrize("wild", [0.0, 0.1])
def test_residuals_are_as_unlikely_as_under_the_best_of_thirteen_sizes(wild):
    rng = np.random.default_rng(1)
    std = rng.uniform(0.05, 0.2, 400)
    missed = std * rng.standard_normal(400) * np.where(rng.random(400) < wild, 20.0, 1.0)
    size = np.sqrt(np.square(missed / std).mean())
    unlikely = []
    for step in range(13):
        each = 10 ** (-2 + step / 6) * size * std
        density = 0.98 * np.exp(-0.5 * np.square(missed / each)) / (each * np.sqrt(2 * np.pi)) + 0.02 / 6
        unlikely.append(-np.log(density).mean())
    assert _nll(missed, std) == pytest.approx(min(unlikely), rel=1e-9)
