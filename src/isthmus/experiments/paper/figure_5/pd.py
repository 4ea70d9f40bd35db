"""The baseline: PD in position control, whose targets are the simulator's own states.

    a_t = q*_{t+1} + kp (q*_t - q_t) + kd (v*_t - v_t)

q* and v* are the simulator's own swing. The gains are found on training swings: every pair of a grid is
tried with all joints alike, every joint takes the pair with which it did best itself, and where all of these together
do no better than the best common pair, that is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from isthmus.core import Float, History
from isthmus.robots.fetch.task import ARM, CLOCK, SWING, on_reference

Trial = Callable[["SwingPd", int], Float]
"""Runs a policy on the swing of that number; what is seen after each step (T, obs)."""


@dataclass(frozen=True)
class SwingPd:
    """Gains of each joint (7,)."""

    stiffness: Float
    damping: Float

    def __call__(self, history: History) -> Float:
        """Commands (n, 7)."""
        now = history.current
        positions, speeds, _ = on_reference(now[:, SWING], now[:, CLOCK])
        target, _, _ = on_reference(now[:, SWING], now[:, CLOCK], ahead=1)
        back = self.stiffness * (positions - now[:, :ARM]) + self.damping * (speeds - now[:, ARM : 2 * ARM])
        return target + back


@dataclass(frozen=True)
class Tuned:
    """The gains, and what was tried."""

    policy: SwingPd
    tried: tuple[tuple[float, float, float], ...]
    """Each common pair, and the distance with it."""


def tune(trial: Trial, stiffnesses: tuple[float, ...], dampings: tuple[float, ...], swings: tuple[int, ...]) -> Tuned:
    """Find gains within the grid on `swings`."""
    tried: list[tuple[float, float, float]] = []
    squares: list[Float] = []
    for stiffness, damping in product(stiffnesses, dampings):
        distance, square = _judge(trial, SwingPd(np.full(ARM, stiffness), np.full(ARM, damping)), swings)
        tried.append((stiffness, damping, distance))
        squares.append(square)
    best: list[int] = np.stack(squares).argmin(axis=0).tolist()  # (7,)
    each = SwingPd(np.array([tried[i][0] for i in best]), np.array([tried[i][1] for i in best]))
    common = min(tried, key=lambda row: row[2])
    if _judge(trial, each, swings)[0] < common[2]:
        return Tuned(each, tuple(tried))
    return Tuned(SwingPd(np.full(ARM, common[0]), np.full(ARM, common[1])), tuple(tried))


def _judge(trial: Trial, policy: SwingPd, swings: tuple[int, ...]) -> tuple[float, Float]:
    """Mean normalised distance, and every joint's mean squared error (7,)."""
    distances, squares = list[float](), list[Float]()
    for number in swings:
        seen = trial(policy, number)
        positions, _, diameter = on_reference(seen[:, SWING], seen[:, CLOCK])
        errors = seen[:, :ARM] - positions
        distances.append(float((np.linalg.norm(errors, axis=1) / diameter).mean()))
        squares.append(np.square(errors).mean(axis=0))
    return float(np.mean(distances)), np.mean(squares, axis=0)
