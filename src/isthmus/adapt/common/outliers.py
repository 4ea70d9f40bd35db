"""A few errors come from something else than a disturbance: a step that was explained badly, above all."""

import numpy as np

from isthmus.adapt.common.truncated_normal import upper_tail
from isthmus.core import Float

OUTLIER_SHARE, RANGE = 0.02, 6.0
"""Their share, and how wide a range they may lie anywhere in."""


def observed(residual: Float, std: Float) -> tuple[Float, Float]:
    """The density of residuals under a normal of size `std` with outliers, and the chance that each is no outlier."""
    normal = (1 - OUTLIER_SHARE) * np.exp(-0.5 * np.square(residual / std)) / (std * np.sqrt(2 * np.pi))
    chance = normal + OUTLIER_SHARE / RANGE
    return chance, normal / chance


def censored(distance: Float) -> tuple[Float, Float]:
    """The same for lying beyond a bound, so many sizes away."""
    normal = (1 - OUTLIER_SHARE) * upper_tail(distance)
    chance = normal + 0.5 * OUTLIER_SHARE
    return chance, normal / chance
