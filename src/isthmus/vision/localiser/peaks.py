"""Read heatmaps: the best places in them, each with how much of the distribution is about it. NumPy only."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float

REACH = 2
"""Cells on each side of a peak that belong to it: a mean over more would mix candidates."""


@dataclass(frozen=True)
class Peak:
    """A place in a heatmap."""

    at: Float
    """x, y in cells (2,)."""
    mass: float
    """Share of the distribution within reach of it."""
    spread: float
    """Standard deviation within that, in cells, along a line."""
    cell: tuple[int, int]
    """Row and column of its largest value."""


def softmax(logits: Float) -> Float:
    """Probabilities of logits of any shape."""
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def find_peaks(probability: Float, count: int, reach: int = REACH) -> list[Peak]:
    """The `count` best peaks of a distribution over cells (rows, columns), best first, more than `reach` apart."""
    left = np.array(probability, float)
    rows, columns = left.shape
    peaks: list[Peak] = []
    for _ in range(count):
        row, column = (int(one) for one in np.unravel_index(int(left.argmax()), left.shape))
        if left[row, column] <= 0:
            break
        up, to = max(0, row - reach), max(0, column - reach)
        window = probability[up : min(rows, row + reach + 1), to : min(columns, column + reach + 1)]
        mass = float(window.sum())
        x: Float = to + np.arange(window.shape[1], dtype=float) + 0.5
        y: Float = up + np.arange(window.shape[0], dtype=float) + 0.5
        across: Float = window.sum(axis=0)
        down: Float = window.sum(axis=1)
        at: Float = np.array([float(across @ x), float(down @ y)]) / mass
        variance = float(across @ (x - at[0]) ** 2 + down @ (y - at[1]) ** 2) / mass / 2
        peaks.append(Peak(at, mass, float(np.sqrt(variance)), (row, column)))
        left[up : up + window.shape[0], to : to + window.shape[1]] = 0
    return peaks
