"""A few errors come from something else than a disturbance: a step that was explained badly, above all."""

import numpy as np

from isthmus.adapt.common.truncated_normal import upper_tail
from isthmus.core import Float

ODD, RANGE = 0.02, 6.0
"""Their share, and how wide a range they may lie anywhere in."""


def told(missed: Float, unsure: Float) -> tuple[Float, Float]:
    """How likely normal errors of size `unsure` are to miss by so much, or to be odd; and how likely not to be odd."""
    normal = (1 - ODD) * np.exp(-0.5 * np.square(missed / unsure)) / (unsure * np.sqrt(2 * np.pi))
    chance = normal + ODD / RANGE
    return chance, normal / chance


def beyond(distance: Float) -> tuple[Float, Float]:
    """The same for lying beyond a bound, so many sizes away."""
    normal = (1 - ODD) * upper_tail(distance)
    chance = normal + 0.5 * ODD
    return chance, normal / chance
