"""Actuators whose noise enters before their limit: how to tell, how large it is, and what to ask of them then.

Asked for a, such an actuator does clip(a + noise). Its error is then smallest for a command beyond what is wanted: the
nearer the limit, the less of the noise gets through. The command is

    argmin_a E (clip(a + s z) - wanted)^2,    z normal, all in half ranges.
"""

from functools import cached_property

import numpy as np

from isthmus.core import Float

HEAP = 0.03
"""Actions explained within this share of the limit lie in a heap there, if there is one."""
WELL_INSIDE = 0.85
LEAST = 20
INNER, OUTER = 1.5, 10.0
"""A heap has so many times the actions of equal stretches on either side of it: beyond the limit there is nothing."""
REACH = 3.0
"""Commands go beyond the limit by so many spreads of the noise at most."""
WANTED: Float = np.linspace(0.0, 1.0, 200)
"""Sizes of a wanted action that the best command is worked out for."""


def is_cut_at_limit(actions: Float, explained: Float) -> bool:
    """Whether actions well inside their limits, in half ranges (n, act), came to lie in a heap at the limit.

    Noise that is cut off at the limit leaves such a heap. A stronger or weaker motor does not, nor do other forces.
    """
    size = np.abs(explained[np.abs(actions) < WELL_INSIDE])

    def stretch(middle: float) -> int:
        return int(np.count_nonzero(np.abs(size - middle) < HEAP))

    heap = stretch(1.0)
    return heap >= LEAST and heap > INNER * stretch(1 - 3 * HEAP) and heap > OUTER * stretch(1 + 3 * HEAP)


def mean_beyond(bounds: Float) -> Float:
    """The mean of a standard normal number that is known to be larger than each of `bounds`."""
    far = np.maximum(bounds, 4.0)
    asymptotic = far + 1 / far - 2 / far**3
    near = np.minimum(bounds, 4.0)
    exact = np.exp(-0.5 * near**2) / np.sqrt(2 * np.pi) / np.maximum(_upper_tail(near), 1e-12)
    return np.where(bounds > 4.0, asymptotic, exact)


class Overcommand:
    """What to ask for, for a wanted action within limits."""

    def __init__(self, noise: Float) -> None:
        """Noise of each actuator, in half ranges (act,)."""
        self._noise = noise

    def __call__(self, wanted: Float) -> Float:
        """Commands for wanted actions (n, act), both in half ranges."""
        asked = wanted.copy()
        for actuator, commands in self._asked.items():
            size = np.interp(np.abs(wanted[:, actuator]), WANTED, commands)
            asked[:, actuator] = np.copysign(size, wanted[:, actuator])
        return asked

    @cached_property
    def _asked(self) -> dict[int, Float]:
        """The best command for every size of a wanted action, by noisy actuator."""
        nodes, shares = _normal_nodes()
        found: dict[int, Float] = {}
        for actuator in range(len(self._noise)):
            noise = float(self._noise[actuator])
            if noise:
                commands = np.linspace(0.0, 1 + REACH * noise, 2 * len(WANTED))
                done = np.clip(commands[:, None] + noise * nodes, -1, 1)
                errors = np.square(done - WANTED[:, None, None]) @ shares  # (wanted, commands)
                found[actuator] = commands[np.argmin(errors, axis=1)]
        return found


def _normal_nodes() -> tuple[Float, Float]:
    """Points and weights of an integral over a normal number."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    return np.asarray(nodes, dtype=np.float64), np.asarray(weights / weights.sum(), dtype=np.float64)


def _upper_tail(values: Float) -> Float:
    """The normal distribution's share above each value; Abramowitz and Stegun 26.2.17, to 1e-7."""
    size = np.abs(values)
    t = 1 / (1 + 0.2316419 * size)
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * size**2) / np.sqrt(2 * np.pi) * series
    return np.asarray(np.where(values >= 0, tail, 1 - tail), dtype=np.float64)
