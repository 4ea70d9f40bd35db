"""Where zeros of joints are, with masses that the model has not quite right, and how exactly a log says so."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float
from isthmus.logs.reading_search import SHIFT, allowed
from isthmus.logs.robot_body import Index
from isthmus.logs.torque_match import Reading, TorqueMatch

HEAVIER = 0.1
"""Standard deviation of the logarithm of how many times as heavy a link is as in the model."""
FINE = 0.05
"""rad that count as one step of a zero."""
STEP = 0.02
"""Steps by which slopes and bends of the likelihood are measured."""
MOST_STEPS = 40
EXACT = 1e-6
"""Nats a squared step that rule nothing out."""


@dataclass(frozen=True)
class Settled:
    """A reading with its zeros where they are most likely."""

    reading: Reading
    margins: Float
    """(n,) nats by which zeros that are `SHIFT` off are worse, if all other zeros and all masses make up for it."""


def settled(match: TorqueMatch, reading: Reading, moved: Index) -> Settled:
    """Move the zeros of the joints `moved` together with the masses of all links.

    Light links far out are the reason: a zero of theirs that is a little off makes up for a mass further in that is.
    """
    count = len(reading.columns)
    size = np.repeat([FINE, HEAVIER], count)

    def cost(steps: Float) -> tuple[float, Float]:
        """What a change of zeros and masses costs in nats, and its slope, by steps of each."""
        tried = steps + np.concatenate([np.zeros((1, len(size))), STEP * np.eye(len(size))])
        found = _likelihoods(match, reading, tried * size)
        costs = 0.5 * np.square(tried[:, count:]).sum(axis=1) - found
        return float(costs[0]), (costs[1:] - costs[0]) / STEP

    low, high = allowed(match, reading)
    free = np.isin(np.arange(count), moved)
    near = [np.where(free, (limit - reading.offsets) / FINE, 0.0) for limit in (low - FINE, high + FINE)]
    bounds = [(min(a, 0.0), max(b, 0.0)) for a, b in zip(*near, strict=True)] + [(-3.0, 3.0)] * count
    found: Any = minimize(  # pyright: ignore[reportUnknownVariableType]
        cost, np.zeros(len(size)), method="L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": MOST_STEPS}
    )
    best = np.asarray(found.x, np.float64)
    slopes = [[cost(best + change)[1] for change in sign * 5 * STEP * np.eye(len(size))] for sign in (1, -1)]
    bends = (np.array(slopes[0]) - np.array(slopes[1])) / (10 * STEP)
    margins = _profile((bends + bends.T) / 2)[:count] * (SHIFT / FINE) ** 2
    return Settled(replace(reading, offsets=reading.offsets + best[:count] * FINE), margins)


def _profile(bends: Float) -> Float:
    """Half of what each parameter's square costs (k,) where all others make up for it; bends (k, k) may be flat."""
    values, vectors = np.linalg.eigh(bends)
    variance = np.square(vectors) @ (1 / np.maximum(values, EXACT))
    return 0.5 / variance


def _likelihoods(match: TorqueMatch, reading: Reading, changes: Float) -> Float:
    """Log likelihoods (k,) of commands after changes (k, 2 n) of zeros and of logarithms of masses."""
    count = len(reading.columns)
    readings = [replace(reading, offsets=reading.offsets + one) for one in changes[:, :count]]
    return np.array([one.likelihood for one in match.explained_all(readings, np.exp(changes[:, count:]))])
