"""What a network is shown of an observation, as numbers: columns of it, held to limits, and constants.

A layout of Gymnasium is a Python function. Nearly all of them only choose columns, clip some and append constants; such
a one is found out by trying it, and can then be written into a graph or a C header.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int

FAR = 1e9
"""Beyond the limits of any layout that has some."""
TRIED = (1.0, 4.0, 30.0, 1e4)
"""Sizes of observations that a layout is tried on."""
ROWS = 8


@dataclass(frozen=True)
class Selection:
    """out = clip(observation[columns], low, high), with constants where a column is -1."""

    columns: Int
    low: Float
    """Infinite where there is no limit, as `high`; both are the constant where the column is -1."""
    high: Float

    def __post_init__(self) -> None:
        """Refuse what does not fit together: it may come from a file."""
        sizes = {self.columns.shape, self.low.shape, self.high.shape}
        if len(sizes) != 1 or self.columns.ndim != 1 or (self.columns < -1).any() or not (self.low <= self.high).all():
            raise ValueError("a selection needs columns, and limits for each of them")

    def __call__(self, observations: Float) -> Float:
        """What is shown (n, size) of observations (n, obs)."""
        shown = np.take(observations, np.maximum(self.columns, 0), axis=1)
        return np.minimum(np.maximum(shown, self.low), self.high)

    def arrays(self) -> dict[str, np.ndarray]:
        """As named arrays for a file."""
        return {"view_columns": self.columns, "view_low": self.low, "view_high": self.high}

    @staticmethod
    def from_arrays(arrays: Mapping[str, np.ndarray], observation_size: int) -> "Selection":
        """What `arrays` gave; a KeyError or ValueError where these are none."""
        columns = np.asarray(arrays["view_columns"], np.int64)
        if len(columns) and columns.max() >= observation_size:
            raise ValueError(f"its view asks for column {columns.max()} of {observation_size}")
        low, high = (np.asarray(arrays[f"view_{end}"], np.float64) for end in ("low", "high"))
        return Selection(columns, low, high)


def selection_of(see: Callable[[Float], Float], observation_size: int) -> Selection | None:
    """The selection that `see` makes of observations (n, obs); None where it computes something else."""
    rng = np.random.default_rng(0)
    seen = rng.uniform(-1, 1, (2, observation_size))
    shown = see(seen)
    same = (shown[:, :, None] == seen[:, None, :]).all(axis=0)  # (size, obs)
    columns = np.where(same.any(axis=1), same.argmax(axis=1), -1)
    most, least = see(np.full((1, observation_size), FAR))[0], see(np.full((1, observation_size), -FAR))[0]
    constant = columns < 0
    high = np.where(constant, shown[0], np.where(most < FAR, most, np.inf))
    low = np.where(constant, shown[0], np.where(least > -FAR, least, -np.inf))
    if not (low <= high).all():
        return None
    found = Selection(columns.astype(np.int64), low.astype(np.float64), high.astype(np.float64))
    for size in TRIED:
        trial = size * rng.standard_normal((ROWS, observation_size))
        if not np.array_equal(found(trial), see(trial)):
            return None
    return found
