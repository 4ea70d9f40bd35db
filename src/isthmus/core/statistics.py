"""Standard errors, and gains of one candidate over another on the same samples."""

from dataclasses import dataclass

import numpy as np

from isthmus.core.arrays import Float


def standard_error(values: Float, *, ddof: int = 1) -> Float:
    """The standard error of the mean of `values` (n, ...) over the first axis.

    With ddof = 1 the variance is estimated without bias; ddof = 0 divides by n, which is smaller for small n.
    """
    return np.asarray(values.std(axis=0, ddof=ddof) / np.sqrt(len(values)), dtype=np.float64)


@dataclass(frozen=True)
class PairedGain:
    """By how much one candidate does better than another on average, over samples that both have had."""

    mean: float
    standard_error: float

    @staticmethod
    def of(ours: Float, theirs: Float, *, ddof: int = 1) -> "PairedGain":
        """From values (n,) and (m,), of which the first min(n, m) belong to the same samples."""
        shared = min(len(ours), len(theirs))
        gain = ours[:shared] - theirs[:shared]
        return PairedGain(float(gain.mean()), float(standard_error(gain, ddof=ddof)))

    def exceeds(self, least: float = 0.0, *, by: float) -> bool:
        """Whether the gain is more than `by` standard errors above `least`."""
        return self.mean - least > by * self.standard_error
