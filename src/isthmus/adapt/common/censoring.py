"""Whether the errors of an actuator come before its limit, and are cut off there."""

import numpy as np

from isthmus.adapt.common.action_residuals import LIMIT_MARGIN
from isthmus.core import Float

CLEAR_GAIN = 0.5
"""Actions that show by less than this share are not looked at."""
WELL_INSIDE = 0.85
LEAST = 20
INNER, OUTER = 1.5, 10.0
"""A peak has so many times the actions of equal stretches on either side of it: beyond the limit there is nothing."""


def is_saturated(actions: Float, effective: Float, gain: Float) -> bool:
    """Whether actions well inside their limits, in half ranges (n, act), came to lie in a peak at the limit.

    `gain` is how clearly each shows. Noise that is cut off at the limit leaves such a peak. A stronger or weaker motor
    does not, nor do other forces.
    """
    size = np.abs(effective[(np.abs(actions) < WELL_INSIDE) & (gain > CLEAR_GAIN)])

    def count_near(middle: float) -> int:
        return int(np.count_nonzero(np.abs(size - middle) < LIMIT_MARGIN))

    heap = count_near(1.0)
    return (
        heap >= LEAST
        and heap > INNER * count_near(1 - 3 * LIMIT_MARGIN)
        and heap > OUTER * count_near(1 + 3 * LIMIT_MARGIN)
    )
