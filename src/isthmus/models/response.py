"""How the robot responds to a command, as a linear function.

    u = a + W' x(tau, a)

a is the command within the actuator's limits, u the action that explains its effect in the simulator, and x holds a
one, the observation, the command and, with history, the errors u - a of the last steps. Solved for a, it gives the
command whose effect is that of the source's action.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from isthmus.core import Bool, Float, Int, Problem
from isthmus.data import load_arrays, save_arrays
from isthmus.models.linear import solve

KIND = "response-model"
ARRAYS = ("weights", "mean", "scale", "half_range", "targets")
FAR = 5.0
"""Standardised observations are clipped to this: a line is not to be trusted further out."""
WEAKEST = 0.2
"""Directions in which the robot answers with less than this share of a command are left as they are."""
LARGEST = 1.5
"""A command is changed by so many half ranges at most."""
FOLDS = 5
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
    targets: Int

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit together: they may come from a file."""
        act, d = len(self.half_range), len(self.targets)
        shapes = (self.mean.shape, self.scale.shape, self.half_range.shape, self.targets.shape, self.weights.shape[1:])
        numbers = (self.weights, self.mean, self.scale, self.half_range)
        if shapes != ((d,), (d,), (act,), (d,), (act,)) or not all(np.isfinite(array).all() for array in numbers):
            raise ValueError(f"its arrays have the shapes {shapes}, or are not finite")

    def features(self, observations: Float, actions: Float, past: Float) -> Float:
        """The features of observations (n, obs), actions within limits (n, act) and past errors (n, p)."""
        seen = (observations[:, self.targets] - self.mean) / self.scale
        one = np.ones((len(seen), 1))
        return np.concatenate((one, np.clip(seen, -FAR, FAR), actions / self.half_range, past), axis=1)

    def correction(self, observations: Float, wanted: Float, past: Float) -> Float:
        """What to add to the actions `wanted` (n, act), within limits, for them to have their effect (n, act)."""
        error = self.features(observations, wanted, past) @ self.weights
        return self.half_range * np.clip(-error @ self._undo, -LARGEST, LARGEST)

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


def fit_lines(features: Float, errors: Float, usable: Bool) -> tuple[Float, Float, Float]:
    """Weights (features, act) for errors (n, act); their error on held-out rows, and that of no weights at all (act,).

    Each actuator has its own `usable` rows (n, act). Ridge regression, with the penalty that does best on blocks of
    rows it was not fitted to. Where no line does better than none, the weights are zero: with little data or much noise
    the model does no harm.
    """
    act = errors.shape[1]
    weights, left, before = np.zeros((features.shape[1], act)), np.zeros(act), np.zeros(act)
    for actuator in range(act):
        rows = usable[:, actuator]
        x, y = features[rows], errors[rows, actuator]
        left[actuator] = before[actuator] = np.sqrt(np.square(y).mean()) if len(y) else 0.0
        if len(y) >= FEWEST:
            penalty, error = _best_penalty(x, y)
            if penalty is not None:
                weights[:, actuator] = _ridge(x.T @ x, x.T @ y, penalty)
                left[actuator] = error
    return weights, left, before


def _best_penalty(x: Float, y: Float) -> tuple[float | None, float]:
    fold = np.arange(len(y)) * FOLDS // len(y)
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
