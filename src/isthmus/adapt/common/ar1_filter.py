"""Take out of a series what its own past foretells, as the Kalman filter of a disturbance does."""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common import outliers as odd
from isthmus.adapt.common.action_residuals import CommandErrors
from isthmus.adapt.common.truncated_normal import mean_beyond
from isthmus.core import Bool, Float

TINY = 1e-12
LEAST_TOLD = 1e-6
"""Share of a variance that a bound takes away at least."""


@dataclass(frozen=True)
class Seen:
    """Errors as they were seen (T, ...)."""

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
        """What errors (T, ...) tell of the disturbance.

        One that is only known to lie beyond a bound is replaced by the blurred one from which the same mean and
        variance of the disturbance would follow. One that rather comes from something else tells nothing.
        """
        values, blurs = errors.values.copy(), np.square(self.blur * errors.haze)
        expected, variance = np.zeros_like(values[0]), np.full_like(values[0], self.spread**2)
        for t, side in enumerate(errors.side):
            share, bounded = errors.shown[t], side != 0
            useless = ~errors.told[t] | _is_odd(values[t] - share * expected, share**2 * variance + blurs[t])
            unsure = np.sqrt(np.maximum(variance + blurs[t], TINY))
            bound = side * (values[t] - expected) / unsure
            beyond = mean_beyond(bound)
            told = np.clip(beyond * (beyond - bound) * variance / unsure**2, LEAST_TOLD, 1.0)
            as_blurred = variance * (1 - told) / told
            blurs[t] = np.where(bounded, as_blurred, np.where(useless, np.inf, blurs[t]))
            as_seen = expected + side * beyond / unsure * (variance + as_blurred)
            values[t] = np.where(bounded, as_seen, values[t])
            gain = variance / np.maximum(variance + blurs[t], TINY)
            expected = self.lasting * (expected + gain * (values[t] - expected))
            variance = self._later(variance * (1 - gain))
        return Seen(values, errors.shown, blurs)

    def whitened(self, series: Float, seen: Seen) -> tuple[Float, Float]:
        """What is new in each step of several series (T, ..., m), and how much is to be expected there (T, ...).

        One of them is an error as it was `seen`; the others go through the same filter, so that lines between them stay
        what they are. In a step that tells nothing, infinitely much is to be expected.
        """
        new, much = np.zeros_like(series), np.zeros_like(seen.blurs)
        expected, variance = np.zeros_like(series[0]), np.full_like(much[0], self.spread**2)
        for t, (row, share, blur) in enumerate(zip(series, seen.shown, seen.blurs, strict=True)):
            unsure = np.maximum(share**2 * variance + blur, TINY)
            gain = share * variance / unsure
            much[t] = np.sqrt(unsure)
            new[t] = row - share[..., None] * expected
            variance = self._later(variance * (1 - gain * share))
            expected = self.lasting * (expected + gain[..., None] * new[t])
        return new, much

    def _later(self, variance: Float) -> Float:
        """Of what is known, a step later."""
        return self.lasting**2 * variance + (1 - self.lasting**2) * self.spread**2


def _is_odd(missed: Float, variance: Float) -> Bool:
    """Whether errors are more likely to come from something else."""
    return np.asarray(odd.told(missed, np.sqrt(np.maximum(variance, TINY)))[1] < 0.5, dtype=np.bool_)
