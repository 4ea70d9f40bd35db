"""Take out of a series what its own past foretells, as the Kalman filter of a disturbance does."""

import math
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.models.normal import mean_beyond


@dataclass(frozen=True)
class Lasting:
    """A disturbance of one actuator that lasts, seen through a blur."""

    spread: float
    lasting: float
    blur: float

    def completed(self, errors: Float, side: Float) -> Float:
        """Errors (T,) that show wholly, those only known to lie beyond a bound replaced by what to expect there."""
        full, expected, variance = errors.copy(), 0.0, self.spread**2
        for t in range(len(errors)):
            unsure = math.sqrt(variance + self.blur**2)
            if side[t]:
                bound = side[t] * (errors[t] - expected) / unsure
                full[t] = expected + side[t] * unsure * float(mean_beyond(np.array([bound]))[0])
            gain = variance / unsure**2
            expected, variance = self._moved(expected + gain * (full[t] - expected), variance * (1 - gain))
        return full

    def whitened(self, series: Float, shown: Float) -> Float:
        """What is new in each step of several series (T, m), as a share of how much is new there.

        One of them is an error, of which a share is `shown` (T,); the others go through the same filter, so that lines
        between them stay what they are.
        """
        new, variance = np.empty_like(series), self.spread**2
        expected = np.zeros(series.shape[1])
        for t, (row, share) in enumerate(zip(series, shown, strict=True)):
            unsure = share**2 * variance + self.blur**2
            missed = row - share * expected
            new[t] = missed / math.sqrt(unsure)
            gain = share * variance / unsure
            variance = self._moved(0.0, variance * (1 - gain * share))[1]
            expected = self.lasting * (expected + gain * missed)
        return new

    def _moved(self, expected: float, variance: float) -> tuple[float, float]:
        """Mean and variance of what is known, a step later."""
        return self.lasting * expected, self.lasting**2 * variance + (1 - self.lasting**2) * self.spread**2
