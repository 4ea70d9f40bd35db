"""Agile swings of the arm: back and forth, in several shapes and at several speeds.

A swing is known by its number. All joints move together around home,

    q_ref(t) = home + envelope(t) A s(2 pi t / T + phase)

and come to rest there. The fastest joint comes to a given share of its speed limit. Training swings and test swings
have no period in common, and are drawn from streams of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from isthmus.core import Float, stream
from isthmus.robots.fetch.arm import HOME, JOINTS, SPEED_LIMITS

PERIOD, STEPS = 0.1, 60
"""Seconds of a control step, and how many a swing has."""
RAMP = 0.8
"""Seconds in which a swing builds up, and comes to rest."""
TRAINING = tuple(range(12))
TEST = tuple(range(100, 110))
TRAINING_PERIODS = (1.6, 2.0, 2.5, 3.0)
TEST_PERIODS = (1.8, 2.2, 2.75)
"""Seconds of one back and forth."""
SHARES = (0.55, 0.9)
"""Of its speed limit that the fastest joint comes to, from and to."""
FINE = 0.005


@dataclass(frozen=True)
class Swing:
    """One swing; times are in seconds since its start."""

    period: float
    shape: str
    amplitudes: Float
    """(7,), in rad."""
    phases: Float
    """(7,), in rad."""

    def __call__(self, times: Float) -> Float:
        """Where the joints are to be at times (n,): (n, 7)."""
        end = PERIOD * STEPS
        inside = np.clip(np.minimum(times, end - times) / RAMP, 0.0, 1.0)
        envelope = np.square(np.sin(inside * np.pi / 2))
        angles = 2 * np.pi * times[:, None] / self.period + self.phases
        return HOME + envelope[:, None] * self.amplitudes * SHAPES[self.shape](angles)


def _flattened(angles: Float) -> Float:
    return np.tanh(1.5 * np.sin(angles)) / np.tanh(1.5)


def _pointed(angles: Float) -> Float:
    return np.arcsin(0.9 * np.sin(angles)) / np.arcsin(0.9)


def _leaning(angles: Float) -> Float:
    return np.sin(angles + 0.4 * np.sin(angles))


SHAPES: dict[str, Callable[[Float], Float]] = {
    "sine": np.sin,
    "flattened": _flattened,
    "pointed": _pointed,
    "leaning": _leaning,
}


@cache
def swing(number: int) -> Swing:
    """The swing of that number."""
    test = number >= TEST[0]
    rng = stream(number, "fetch swing", "test" if test else "training")
    periods, shapes = (TEST_PERIODS if test else TRAINING_PERIODS), tuple(SHAPES)
    drawn = Swing(
        period=periods[number % len(periods)],
        shape=shapes[(number // len(periods)) % len(shapes)],
        amplitudes=SPEED_LIMITS * rng.uniform(0.3, 1.0, len(JOINTS)) * rng.choice((-1.0, 1.0), len(JOINTS)),
        phases=rng.uniform(-0.5, 0.5, len(JOINTS)),
    )
    times = np.arange(0.0, PERIOD * STEPS, FINE)
    speeds = np.abs(np.diff(drawn(times), axis=0)).max(axis=0) / FINE
    fastest = float((speeds / SPEED_LIMITS).max())
    share = rng.uniform(*SHARES)
    return Swing(drawn.period, drawn.shape, drawn.amplitudes * share / fastest, drawn.phases)


def references(numbers: Float, times: Float) -> Float:
    """Where the swings of `numbers` (n,) are at times (n,): (n, 7)."""
    out = np.empty((len(numbers), len(JOINTS)))
    for number in np.unique(numbers):
        rows = numbers == number
        out[rows] = swing(int(number))(times[rows])
    return out
