"""Lines through the errors of commands."""

from dataclasses import dataclass, fields

import numpy as np

from isthmus.adapt.common import outliers as odd
from isthmus.adapt.common.action_residuals import CommandErrors
from isthmus.adapt.common.ar1_disturbance import Disturbance
from isthmus.adapt.common.ar1_filter import Lasting
from isthmus.adapt.common.ragged_batch import SideBySide
from isthmus.adapt.common.truncated_normal import mean_beyond
from isthmus.adapt.settings.components import Parts
from isthmus.core import Bool, Float, Int
from isthmus.core.linear import solve

FOLDS = 5
ITERATIONS = 60
MEDIAN = 0.6745
"""Of the size of a standard normal number."""
TINY = 1e-12
FEWEST = 20
"""Rows that a line is fitted to at least."""
SHARES = tuple(float(share) for share in np.geomspace(0.01, 1.0, 13))
"""Of the root of the mean square, that the usual error may have where a few are much larger."""
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
    surprise: Float
    """How unlikely a held-out row is by what was foreseen, in natural logarithms (act,)."""

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
    parts: Parts | None = None,
) -> Lines:
    """Lines for errors (n, act) from features (n, f), of rows from `episodes` (n,), in order within `runs` (n,).

    Ridge regression on the rows that tell an error, with the strongest penalty that does as well as any on episodes it
    was not fitted to, or on blocks of rows where there are few. Where no line does better than none, the weights are
    zero: with little data or much noise the model does no harm.

    Where a `disturbance` lasts, a command that makes up for it goes along with it, and a line between the two would be
    taken for an answer of the robot. Where it is cut off, rows that only bound an error have to be used too: left out,
    they would make the errors look smaller than they are. In both cases the lines are fitted to what is new in each
    step, beginning with the weights found `so_far` (f, act).
    """
    act, penalties = errors.values.shape[1], _penalties(parts or Parts())
    weights, left, before, surprise = np.zeros((features.shape[1], act)), *np.zeros((3, act))
    so_far = np.zeros_like(weights) if so_far is None else so_far
    folds = _folds(episodes)
    for actuator in range(act):
        told, side = errors.told[:, actuator], errors.side[:, actuator]
        if told.any():
            before[actuator] = left[actuator] = np.sqrt(np.square(errors.values[told, actuator]).mean())
        if disturbance.lasting[actuator] or disturbance.cut:
            rows = told | (side != 0)
            x, y, much = _what_is_new(features, errors, runs, disturbance, actuator, so_far[:, actuator])
        else:
            rows, x, y, much = told, features, errors.values[:, actuator], np.ones(len(features))
        if np.isfinite(much[rows]).sum() < FEWEST:
            continue
        trust, fold = 1 / much[rows], folds[rows]
        x, y = x[rows], y[rows]
        penalty, missed = _best_penalty(x, y, trust, fold, penalties)
        if told.any():
            known = told[rows]
            left[actuator] = np.sqrt(np.square(missed[known]).mean())
            surprise[actuator] = _surprise(missed[known], much[rows][known])
        if penalty is not None:
            weights[:, actuator] = _ridge(*_squares(x, y, trust), penalty)
    return Lines(weights, left, before, surprise)


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
            sizes[actuator] = _uncensored(values[told], values[side != 0], side[side != 0])
    return sizes


def _what_is_new(
    features: Float, errors: CommandErrors, runs: Int, disturbance: Disturbance, actuator: int, so_far: Float
) -> tuple[Float, Float, Float]:
    """What is new in features (n, f) and errors (n,), and how much is to be expected in each step (n,)."""
    parts = disturbance.spread, disturbance.lasting, disturbance.blur
    lasting = Lasting(*(float(part[actuator]) for part in parts))
    places = SideBySide.of(runs)
    left = errors.less((features @ so_far)[:, None])[:, actuator]
    seen = lasting.completed(left.each(places.spread))
    series = np.column_stack((places.gather(seen.values) + features @ so_far, features))
    new, much = (places.gather(part) for part in lasting.whitened(places.spread(series), seen))
    return new[:, 1:], new[:, 0], much


def _uncensored(told: Float, bounds: Float, side: Float) -> float:
    """Spread by expectation maximisation.

    Errors that are only bounded count with the square they have beyond, and all only as far as they are not odd: an
    effect that is explained a little short of the limit makes a huge error of a command far beyond.
    """
    size = max(float(np.median(np.abs(told))) / MEDIAN, TINY)
    for _ in range(ITERATIONS):
        distance = side * bounds / size
        squares = 1 + distance * mean_beyond(distance)
        known, bounded = odd.told(told, np.full_like(told, size))[1], odd.beyond(distance)[1]
        whole = known @ np.square(told) + size**2 * (bounded @ squares)
        size = float(np.sqrt(whole / (known.sum() + bounded.sum())))
    return size


def _folds(episodes: Int) -> Int:
    """Which fold each row belongs to: neighbours in time stay together, and so do episodes, if there are enough."""
    numbers, order = np.unique(episodes, return_inverse=True)
    if len(numbers) >= FOLDS:
        return order * FOLDS // len(numbers)
    return np.arange(len(episodes)) * FOLDS // len(episodes)


def _penalties(parts: Parts) -> tuple[float | None, ...]:
    """Those to choose from, the strongest first; None is no line at all."""
    if not parts.lines:
        return (None,)
    return (None, *reversed(PENALTIES)) if parts.doubt else PENALTIES[:1]


def _best_penalty(
    x: Float, y: Float, trust: Float, fold: Int, strongest_first: tuple[float | None, ...]
) -> tuple[float | None, Float]:
    """The strongest penalty that does as well as any on rows held out, as far as folds can tell, and what it leaves."""
    parts = [_squares(x[fold == one], y[fold == one], trust[fold == one]) for one in range(FOLDS)]
    all_square, all_moment = _squares(x, y, trust)
    missed = np.repeat(y[None], len(strongest_first), axis=0)
    for row, penalty in enumerate(strongest_first):
        if penalty is None:
            continue
        for one, (square, moment) in enumerate(parts):
            held_out = fold == one
            missed[row, held_out] -= x[held_out] @ _ridge(all_square - square, all_moment - moment, penalty)
    weighed = np.square(missed * trust)
    errors = np.stack([weighed[:, fold == one].sum(axis=1) for one in range(FOLDS)], axis=1)
    more = errors - errors[np.argmin(errors.sum(axis=1))]
    as_good = more.mean(axis=1) <= more.std(axis=1, ddof=1) / np.sqrt(FOLDS)
    best = int(np.argmax(as_good))
    return strongest_first[best], missed[best]


def _surprise(missed: Float, much: Float) -> float:
    """Of missing by so much (n,), where `much` tells in which steps more is to be expected, but not how much in all.

    Unlike a mean square it is not a matter of the few steps that nobody foresees, such as those that make contact.
    """
    known = np.isfinite(much)
    size = float(np.sqrt(np.square(missed[known] / much[known]).mean())) if known.any() else 1.0
    size = max(size, TINY)
    return min(float(-np.log(odd.told(missed, share * size * much)[0]).mean()) for share in SHARES)


def _squares(x: Float, y: Float, trust: Float) -> tuple[Float, Float]:
    """What least squares with weights needs of rows."""
    weighed = x * np.square(trust)[:, None]
    return weighed.T @ x, weighed.T @ y


def _ridge(square: Float, moment: Float, penalty: float) -> Float:
    return solve(square + penalty * np.eye(len(moment)), moment)
