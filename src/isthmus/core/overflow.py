"""What becomes of a source command that exceeds the actuator's limits when its action is corrected."""

import numpy as np

from isthmus.core.arrays import Float

NEAR = 1e-6
"""A corrected action this close to a limit, as a share of the range, is at the limit: what is left is rounding."""


def keep_overflow(source: Float, corrected: Float, low: Float, high: Float) -> Float:
    """Commands (n, act) for `corrected` actions of raw `source` commands, each (n, act), with limits `low` and `high`.

    A policy may command more than an actuator can do, so that noise before the actuator does not take it back inside
    the limit. That excess is kept where the corrected action ends at the limit which the source command exceeds. A
    correction that leads inside the limits stands as it is: with the excess on top of it, the actuator would clip the
    command back to the limit and undo the correction.
    """
    near = NEAR * (high - low)
    stays = np.where(source > high, corrected >= high - near, (source < low) & (corrected <= low + near))
    overflow = source - np.minimum(np.maximum(source, low), high)
    return np.where(stays, corrected + overflow, corrected)
