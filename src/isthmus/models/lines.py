"""Lines through the errors of commands."""

from dataclasses import dataclass, fields

import numpy as np

from isthmus.core import Bool, Float, Int
from isthmus.core.linear import solve
from isthmus.models.command_errors import CommandErrors
from isthmus.models.disturbance import Disturbance
from isthmus.models.normal import mean_beyond
from isthmus.models.whiten import Lasting

Rows = tuple[Float, Float]
"""Features (n, f) and errors (n,)."""
FOLDS = 5
ITERATIONS = 20
FEWEST = 20
"""Rows that a line is fitted to at least."""
PENALTIES = tuple(float(penalty) for penalty in np.geomspace(1.0, 1e4, 9))


@dataclass(frozen=True)
class Lines:
    """Lines fitted to errors, one for each actuator."""

    weights: Float
    """(features, act)."""
    left: Float
    """Error that the lines, and a disturbance that is followed, leave on held-out rows (act,)."""
    before: Float
    """Error of neither (act,)."""

    def where(self, actuators: Bool, others: "Lines") -> "Lines":
        """These lines for `actuators` (act,), and for the rest those of `others`."""
        chosen: list[Float] = [
            np.where(actuators, getattr(self, field.name), getattr(others, field.name)) for field in fields(self)
        ]
        return Lines(*chosen)


def fit_lines(
    features: Float,
    errors: CommandErrors,
    episodes: Int,
    runs: Int,
    disturbance: Disturbance,
    so_far: Float | None = None,
) -> Lines:
    """Lines for errors (n, act) from features (n, f), of rows from `episodes` (n,), in order within `runs` (n,).

    Ridge regression on the rows that tell an error, with the penalty that does best on episodes it was not fitted to,
    or on blocks of rows where there are few. Where no line does better than none, the weights are zero: with little
    data or much noise the model does no harm. Rows that only bound an error are used too: left out, they would make the
    errors look smaller than they are.

    Where a `disturbance` lasts, a command that makes up for it goes along with it, and a line between the two would be
    taken for an answer of the robot. The lines are then fitted to what is new in each step, beginning with the weights
    found `so_far` (f, act).
    """
    act = errors.values.shape[1]
    weights, left, before = np.zeros((features.shape[1], act)), np.zeros(act), np.zeros(act)
    so_far = np.zeros_like(weights) if so_far is None else so_far
    folds = _folds(episodes)
    for actuator in range(act):
        told, side = errors.told[:, actuator], errors.side[:, actuator]
        lasts, much, rows = bool(disturbance.lasting[actuator]), 1.0, told
        if told.any():
            before[actuator] = left[actuator] = np.sqrt(np.square(errors.values[told, actuator]).mean())
        if lasts:
            rows = told | (side != 0)
            x, y, new = _what_is_new(features, errors, runs, disturbance, actuator, so_far[:, actuator])
            much = np.sqrt(np.square(new[told]).mean()) if told.any() else 1.0
            x, y = x[rows], y[rows]
        else:
            x, y = features[rows], errors.values[rows, actuator]
        if len(y) < FEWEST:
            continue
        penalty, missed = _best_penalty(x, y, folds[rows])
        left[actuator] = missed * much
        if penalty is None:
            continue
        weights[:, actuator] = _ridge(x.T @ x, x.T @ y, penalty)
        if side.any() and not lasts:
            hidden = features[side != 0], errors.values[side != 0, actuator]
            weights[:, actuator], _ = _uncensored((x, y), hidden, side[side != 0], penalty, missed)
    return Lines(weights, left, before)


def error_sizes(errors: CommandErrors) -> Float:
    """How large errors (n, act) are, those included of which only bounds are known (act,)."""
    sizes = np.zeros(errors.values.shape[1])
    for actuator in range(len(sizes)):
        told, side = errors.told[:, actuator], errors.side[:, actuator]
        values = errors.values[:, actuator]
        if told.any():
            shown = np.square(errors.shown[told, actuator]).sum()
            sizes[actuator] = np.sqrt(np.square(values[told]).sum() / max(shown, 1e-12))
        if told.any() and side.any():
            rows = (np.empty((n, 0)) for n in (told.sum(), (side != 0).sum()))
            seen, hidden = zip(rows, (values[told], values[side != 0]), strict=True)
            _, sizes[actuator] = _uncensored(seen, hidden, side[side != 0], None, sizes[actuator])
    return sizes


def _what_is_new(
    features: Float, errors: CommandErrors, runs: Int, disturbance: Disturbance, actuator: int, so_far: Float
) -> tuple[Float, Float, Float]:
    """Of features (n, f) and errors (n,), as a share of how much is new in each (n,)."""
    parts = disturbance.spread, disturbance.lasting, disturbance.blur
    lasting = Lasting(*(float(part[actuator]) for part in parts))
    left = errors.less((features @ so_far)[:, None])[:, actuator]
    series, much = np.column_stack((errors.values[:, actuator], features)), np.empty(len(features))
    for run in np.unique(runs):
        rows = runs == run
        seen = lasting.completed(left[rows])
        series[rows, 0] = seen.values + features[rows] @ so_far
        series[rows], much[rows] = lasting.whitened(series[rows], seen)
    return series[:, 1:], series[:, 0], much


def _uncensored(told: Rows, bounded: Rows, side: Float, penalty: float | None, noise: float) -> tuple[Float, float]:
    """Weights and spread by expectation maximisation: errors that are only bounded get the mean they have beyond."""
    (x, y), (hidden, bounds) = told, bounded
    everything = np.vstack((x, hidden))
    square = everything.T @ everything
    weights = _ridge(x.T @ x, x.T @ y, penalty) if penalty is not None else np.zeros(x.shape[1])
    for _ in range(ITERATIONS):
        expected = hidden @ weights
        distance = side * (bounds - expected) / noise
        beyond = mean_beyond(distance)
        guess = np.concatenate((y, expected + side * noise * beyond))
        if penalty is not None:
            weights = _ridge(square, everything.T @ guess, penalty)
        unsure = np.square(noise) * np.maximum(1 + distance * beyond - np.square(beyond), 0.0)
        noise = float(np.sqrt((np.square(guess - everything @ weights).sum() + unsure.sum()) / len(guess)))
    return weights, noise


def _folds(episodes: Int) -> Int:
    """Which fold each row belongs to: neighbours in time stay together, and so do episodes, if there are enough."""
    numbers, order = np.unique(episodes, return_inverse=True)
    if len(numbers) >= FOLDS:
        return order * FOLDS // len(numbers)
    return np.arange(len(episodes)) * FOLDS // len(episodes)


def _best_penalty(x: Float, y: Float, fold: Int) -> tuple[float | None, float]:
    parts = [(x[fold == one], y[fold == one]) for one in range(FOLDS)]
    squares = [(a.T @ a, a.T @ b) for a, b in parts]
    all_square, all_moment = x.T @ x, x.T @ y
    best, least = None, float(np.square(y).sum())
    for penalty in PENALTIES:
        error = 0.0
        for one, (a, b) in enumerate(parts):
            square, moment = squares[one]
            weights = _ridge(all_square - square, all_moment - moment, penalty)
            error += float(np.square(a @ weights - b).sum())
        if error < least:
            best, least = penalty, error
    return best, float(np.sqrt(least / len(y)))


def _ridge(square: Float, moment: Float, penalty: float) -> Float:
    return solve(square + penalty * np.eye(len(moment)), moment)
