"""How the robot responds to a command, as a linear function.

    u = a + W' x(tau, a)

a is the command within the actuator's limits, u the action that explains its effect in the simulator, and x holds a
one, the observation, the command and, with history, the errors u - a of the last steps. Solved for a, it gives the
command whose effect is that of the source's action. What is left to chance is cut off at the limit in some robots:
there the command goes further (`saturation`).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from isthmus.core import Float, Int, Problem
from isthmus.core.linear import solve
from isthmus.data import load_arrays, save_arrays
from isthmus.models.past_errors import CommandErrors
from isthmus.models.saturation import Overcommand, mean_beyond

Rows = tuple[Float, Float]
"""Features (n, f) and errors (n,)."""
KIND = "response-model"
ARRAYS = ("weights", "mean", "scale", "half_range", "noise", "targets")
FAR = 5.0
"""Standardised observations are clipped to this: a line is not to be trusted further out."""
WEAKEST = 0.2
"""Directions in which the robot answers with less than this share of a command are left as they are."""
LARGEST = 1.5
"""A command is changed by so many half ranges at most."""
FOLDS = 5
ITERATIONS = 20
FEWEST = 20
"""Rows that a line is fitted to at least."""
PENALTIES = tuple(float(penalty) for penalty in np.geomspace(1.0, 1e4, 9))


@dataclass(frozen=True)
class Response:
    """The weights W, and what x is made of."""

    weights: Float
    """(features, act), for actions in half ranges."""
    mean: Float
    scale: Float
    """Of the observation's targets (d,)."""
    half_range: Float
    noise: Float
    """Spread of what is left to chance before an actuator's limit, in half ranges (act,); 0 where it is not cut off."""
    targets: Int

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit together: they may come from a file."""
        act, d = len(self.half_range), len(self.targets)
        vectors = (self.mean, self.scale, self.targets, self.half_range, self.noise)
        shapes = (*(vector.shape for vector in vectors), self.weights.shape[1:])
        numbers = (self.weights, *vectors)
        if shapes != ((d,), (d,), (d,), (act,), (act,), (act,)) or not all(
            np.isfinite(array).all() for array in numbers
        ):
            raise ValueError(f"its arrays have the shapes {shapes}, or are not finite")

    def features(self, observations: Float, actions: Float, past: Float) -> Float:
        """The features of observations (n, obs), actions within limits (n, act) and past errors (n, p)."""
        seen = (observations[:, self.targets] - self.mean) / self.scale
        one = np.ones((len(seen), 1))
        return np.concatenate((one, np.clip(seen, -FAR, FAR), actions / self.half_range, past), axis=1)

    def correction(self, observations: Float, wanted: Float, past: Float) -> Float:
        """What to add to the actions `wanted` (n, act), within limits, for them to have their effect (n, act)."""
        error = self.features(observations, wanted, past) @ self.weights
        share = wanted / self.half_range
        asked = self._overcommand(share) - share
        return self.half_range * (asked + np.clip(-error @ self._undo, -LARGEST, LARGEST))

    @cached_property
    def _overcommand(self) -> Overcommand:
        return Overcommand(self.noise)

    @cached_property
    def _undo(self) -> Float:
        """From an error to the change of the command that makes up for it (act, act)."""
        begin = 1 + len(self.targets)
        gain = self.weights[begin : begin + len(self.half_range)]
        return _inverse(np.eye(len(gain)) + gain)

    def save(self, path: Path) -> None:
        """Write the model."""
        save_arrays(path, {name: getattr(self, name) for name in ARRAYS}, {"kind": KIND})

    @staticmethod
    def load(path: Path) -> "Response":
        """Read a model."""
        arrays, _ = load_arrays(path, KIND)
        try:
            floats = {name: np.asarray(arrays[name], dtype=np.float64) for name in ARRAYS[:-1]}
            return Response(**floats, targets=np.asarray(arrays["targets"], dtype=np.int64))
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            raise Problem(f"{path} is not a {KIND} file, or it is damaged ({error})") from error


@dataclass(frozen=True)
class Lines:
    """Lines fitted to errors, one for each actuator."""

    weights: Float
    """(features, act)."""
    left: Float
    """Error that the lines leave on held-out rows (act,)."""
    before: Float
    """Error of no line at all (act,)."""
    noise: Float
    """Spread of what is left, where larger errors were cut off; else zero (act,)."""


def fit_lines(features: Float, errors: CommandErrors, episodes: Int, *, cut: bool) -> Lines:
    """Lines for errors (n, act) from features (n, f), of rows from `episodes` (n,).

    Ridge regression on the rows that tell an error, with the penalty that does best on episodes it was not fitted to,
    or on blocks of rows where there are few. Where no line does better than none, the weights are zero: with little
    data or much noise the model does no harm. Where errors are `cut` off at the limit, rows that only bound them are
    used too: left out, they would make the errors look smaller than they are.
    """
    act = errors.values.shape[1]
    weights = np.zeros((features.shape[1], act))
    left, before, noise = np.zeros(act), np.zeros(act), np.zeros(act)
    folds = _folds(episodes)
    for actuator in range(act):
        rows = errors.told[:, actuator]
        x, y = features[rows], errors.values[rows, actuator]
        left[actuator] = before[actuator] = np.sqrt(np.square(y).mean()) if len(y) else 0.0
        if len(y) < FEWEST:
            continue
        penalty, left[actuator] = _best_penalty(x, y, folds[rows])
        if penalty is not None:
            weights[:, actuator] = _ridge(x.T @ x, x.T @ y, penalty)
        if cut:
            bound = errors.bounds[:, actuator]
            hidden = features[bound], errors.values[bound, actuator]
            weights[:, actuator], noise[actuator] = _uncensored((x, y), hidden, penalty, left[actuator])
    return Lines(weights, left, before, noise)


def _uncensored(told: Rows, bounded: Rows, penalty: float | None, noise: float) -> tuple[Float, float]:
    """Weights and spread by expectation maximisation: errors that are only bounded get the mean they have beyond."""
    (x, y), (hidden, bounds) = told, bounded
    everything, side = np.vstack((x, hidden)), np.sign(bounds)
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


def _inverse(matrix: Float) -> Float:
    """The inverse, but zero in directions that hardly answer."""
    left, values, right = np.linalg.svd(matrix)
    undone = np.where(values > WEAKEST, 1 / np.maximum(values, WEAKEST), 0.0)
    return np.asarray((right.T * undone) @ left.T, dtype=np.float64)
