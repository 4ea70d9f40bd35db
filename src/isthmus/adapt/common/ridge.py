"""Ridge regression of the errors of commands."""

from dataclasses import dataclass, fields

import numpy as np

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ragged_batch import RaggedBatch
from isthmus.adapt.common.truncated_normal import inverse_mills_ratio
from isthmus.adapt.settings import Components
from isthmus.core import Bool, Float, Int
from isthmus.core.ridge import NormalEquations, held_out_residuals, one_standard_error_rule

FOLDS = 5
ITERATIONS = 60
MEDIAN = 0.6745
"""Of the size of a standard normal number."""
TINY = 1e-12
FEWEST = 20
"""Rows that are fitted to at least."""
SHARES = tuple(float(share) for share in np.geomspace(0.01, 1.0, 13))
"""Of the root of the mean square, that the usual error may have where a few are much larger."""
PENALTIES = tuple(float(penalty) for penalty in np.geomspace(1.0, 1e4, 9))


@dataclass(frozen=True)
class RidgeFit:
    """A linear regression of the errors of each actuator."""

    weights: Float  # (features, act)
    rmse: Float
    """Error that the regression, and a disturbance that is followed, leave on held-out rows (act,)."""
    baseline_rmse: Float
    """Error of neither (act,)."""
    nll: Float
    """How unlikely a held-out row is under the prediction, in natural logarithms (act,)."""

    def where(self, actuators: Bool, others: "RidgeFit") -> "RidgeFit":
        """This regression for `actuators` (act,), and for the rest that of `others`."""
        chosen: list[Float] = [
            np.where(actuators, getattr(self, field.name), getattr(others, field.name)) for field in fields(self)
        ]
        return RidgeFit(*chosen)


def fit_ridge(
    features: Float,
    errors: ActionResiduals,
    episodes: Int,
    runs: Int,
    disturbance: AR1Disturbance,
    so_far: Float | None = None,
    components: Components | None = None,
) -> RidgeFit:
    """Regress errors (n, act) on features (n, f), of rows from `episodes` (n,), in order within `runs` (n,).

    Ridge regression on the rows that tell an error, with the strongest penalty that does as well as any on episodes it
    was not fitted to, or on blocks of rows where there are few. Where no fit does better than none, the weights are
    zero: with little data or much noise the model does no harm.

    Where a `disturbance` is correlated in time, commands that compensate for it are correlated with it. A regression
    of one on the other would be taken for a response of the robot. Where it saturates, rows that only bound an error
    are used too: without them errors would look smaller than they are. In both cases the regression is fitted to the
    innovations of each step, beginning with the weights found `so_far` (f, act).
    """
    act, penalties = errors.values.shape[1], _penalties(components or Components())
    weights, rmse, baseline_rmse, nll = np.zeros((features.shape[1], act)), *np.zeros((3, act))
    so_far = np.zeros_like(weights) if so_far is None else so_far
    folds = _folds(episodes)
    for actuator in range(act):
        observed, censoring = errors.observed[:, actuator], errors.censoring[:, actuator]
        if observed.any():
            baseline_rmse[actuator] = rmse[actuator] = np.sqrt(np.square(errors.values[observed, actuator]).mean())
        if disturbance.correlation[actuator] or disturbance.saturates:
            rows = observed | (censoring != 0)
            x, y, innovation_std = _innovations(features, errors, runs, disturbance, actuator, so_far[:, actuator])
        else:
            rows, x, y, innovation_std = observed, features, errors.values[:, actuator], np.ones(len(features))
        if np.isfinite(innovation_std[rows]).sum() < FEWEST:
            continue
        trust, fold = 1 / innovation_std[rows], folds[rows]
        x, y = x[rows], y[rows]
        penalty, missed = _best_penalty(x, y, trust, fold, penalties)
        if observed.any():
            known = observed[rows]
            rmse[actuator] = np.sqrt(np.square(missed[known]).mean())
            nll[actuator] = _nll(missed[known], innovation_std[rows][known])
        if np.isfinite(penalty):
            weights[:, actuator] = NormalEquations.of(x, y, trust).ridge(penalty)
    return RidgeFit(weights, rmse, baseline_rmse, nll)


def error_sizes(errors: ActionResiduals) -> Float:
    """How large errors (n, act) are, those included of which only bounds are known (act,)."""
    sizes = np.zeros(errors.values.shape[1])
    for actuator in range(len(sizes)):
        observed, censoring = errors.observed[:, actuator], errors.censoring[:, actuator]
        values = errors.values[:, actuator]
        if observed.any():
            gain = np.square(errors.gain[observed, actuator]).sum()
            sizes[actuator] = np.sqrt(np.square(values[observed]).sum() / max(gain, 1e-12))
        if observed.any() and censoring.any():
            sizes[actuator] = _uncensored(values[observed], values[censoring != 0], censoring[censoring != 0])
    return sizes


def _innovations(
    features: Float, errors: ActionResiduals, runs: Int, disturbance: AR1Disturbance, actuator: int, so_far: Float
) -> tuple[Float, Float, Float]:
    """What is new in features (n, f) and errors (n,), and how much is to be expected in each step (n,)."""
    ar1_filter = disturbance.filter(actuator)
    places = RaggedBatch.of(runs)
    left = errors.less((features @ so_far)[:, None])[:, actuator]
    measured = ar1_filter.pseudo_measurements(left.each(places.pad))
    series = np.column_stack((places.gather(measured.values) + features @ so_far, features))
    innovation, innovation_std = (places.gather(part) for part in ar1_filter.innovations(places.pad(series), measured))
    return innovation[:, 1:], innovation[:, 0], innovation_std


def _uncensored(observed: Float, bounds: Float, censoring: Float) -> float:
    """Standard deviation by expectation maximisation.

    Errors that are only bounded count with the square they have beyond, and all only as far as they are no outliers: an
    effect that is explained a little short of the limit makes a huge error of a command far beyond.
    """
    size = max(float(np.median(np.abs(observed))) / MEDIAN, TINY)
    for _ in range(ITERATIONS):
        distance = censoring * bounds / size
        squares = 1 + distance * inverse_mills_ratio(distance)
        known, bounded = outliers.observed(observed, np.full_like(observed, size))[1], outliers.censored(distance)[1]
        whole = known @ np.square(observed) + size**2 * (bounded @ squares)
        size = float(np.sqrt(whole / (known.sum() + bounded.sum())))
    return size


def _folds(episodes: Int) -> Int:
    """Which fold each row belongs to: neighbours in time stay together, and so do episodes, if there are enough."""
    numbers, order = np.unique(episodes, return_inverse=True)
    if len(numbers) >= FOLDS:
        return order * FOLDS // len(numbers)
    return np.arange(len(episodes)) * FOLDS // len(episodes)


def _penalties(components: Components) -> tuple[float, ...]:
    """Those to choose from, the strongest first; an infinite one leaves no weights at all."""
    if not components.regression:
        return (np.inf,)
    return (np.inf, *reversed(PENALTIES)) if components.cross_validation else PENALTIES[:1]


def _best_penalty(
    x: Float, y: Float, trust: Float, fold: Int, strongest_first: tuple[float, ...]
) -> tuple[float, Float]:
    """The strongest penalty that does as well as any on rows held out, as far as folds can tell, and what it leaves."""
    missed = held_out_residuals(x, y, fold, strongest_first, weights=trust)
    weighed = np.square(missed * trust)
    best = one_standard_error_rule(np.stack([weighed[:, fold == one].sum(axis=1) for one in range(FOLDS)], axis=1))
    return strongest_first[best], missed[best]


def _nll(missed: Float, innovation_std: Float) -> float:
    """Mean negative log-likelihood of residuals (n,), whose std is `innovation_std` up to a common factor.

    Unlike a mean square it is not a matter of the few steps that nobody foresees, such as those that make contact.
    """
    known = np.isfinite(innovation_std)
    size = float(np.sqrt(np.square(missed[known] / innovation_std[known]).mean())) if known.any() else 1.0
    size = max(size, TINY)
    return min(float(-np.log(outliers.observed(missed, share * size * innovation_std)[0]).mean()) for share in SHARES)
