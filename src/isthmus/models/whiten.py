"""Take out of a series what its own past foretells, as the Kalman filter of a disturbance does."""

import math
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.models import odd
from isthmus.models.command_errors import CommandErrors
from isthmus.models.normal import mean_beyond

TINY = 1e-12
LEAST_TOLD = 1e-6
"""Share of a variance that a bound takes away at least."""


@dataclass(frozen=True)
class Seen:
    """Errors as they were seen (T,)."""

    values: Float
    shown: Float
    """The share of an error that shows."""
    blurs: Float
    """The variance of what it is blurred by; infinite where nothing was seen."""


@dataclass(frozen=True)
class Lasting:
    """A disturbance of one actuator that lasts, seen through a blur."""

    spread: float
    lasting: float
    blur: float

    def completed(self, errors: CommandErrors) -> Seen:
        """What errors (T,) tell of the disturbance.

        One that is only known to lie beyond a bound is replaced by the blurred one from which the same mean and
        variance of the disturbance would follow. One that rather comes from something else tells nothing.
        """
        values, blurs = errors.values.copy(), np.square(self.blur * errors.haze)
        expected, variance = 0.0, self.spread**2
        for t, side in enumerate(errors.side):
            share = errors.shown[t]
            if not side and (
                not errors.told[t] or _is_odd(values[t] - share * expected, share**2 * variance + blurs[t])
            ):
                blurs[t] = np.inf
            elif side:
                unsure = math.sqrt(variance + blurs[t])
                bound = side * (values[t] - expected) / unsure
                beyond = float(mean_beyond(np.array([bound]))[0])
                told = min(max(beyond * (beyond - bound) * variance / unsure**2, LEAST_TOLD), 1.0)
                blurs[t] = variance * (1 - told) / told
                values[t] = expected + side * beyond / unsure * (variance + blurs[t])
            gain = variance / max(variance + blurs[t], TINY)
            expected, variance = self._moved(expected + gain * (values[t] - expected), variance * (1 - gain))
        return Seen(values, errors.shown, blurs)

    def whitened(self, series: Float, seen: Seen) -> tuple[Float, Float]:
        """What is new in each step of several series (T, m), and how much is to be expected there (T,).

        One of them is an error as it was `seen`; the others go through the same filter, so that lines between them stay
        what they are. In a step that tells nothing, infinitely much is to be expected.
        """
        new, much, variance = np.zeros_like(series), np.zeros(len(series)), self.spread**2
        expected = np.zeros(series.shape[1])
        for t, (row, share, blur) in enumerate(zip(series, seen.shown, seen.blurs, strict=True)):
            unsure = max(share**2 * variance + blur, TINY)
            missed, gain = row - share * expected, share * variance / unsure
            much[t] = math.sqrt(unsure)
            new[t] = missed
            variance = self._moved(0.0, variance * (1 - gain * share))[1]
            expected = self.lasting * (expected + gain * missed)
        return new, much

    def _moved(self, expected: float, variance: float) -> tuple[float, float]:
        """Mean and variance of what is known, a step later."""
        return self.lasting * expected, self.lasting**2 * variance + (1 - self.lasting**2) * self.spread**2


def _is_odd(missed: float, variance: float) -> bool:
    """Whether an error is more likely to come from something else."""
    unsure = np.array(math.sqrt(max(variance, TINY)))
    return bool(odd.told(np.array(missed), unsure)[1] < 0.5)
