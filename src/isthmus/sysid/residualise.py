"""Errors, less what goes along with something by a straight line."""

import numpy as np

from isthmus.core import Float
from isthmus.core.ridge import NormalEquations

ROWS_A_FEATURE, RIDGE = 3, 1.0


def residualise(errors: Float, along: Float) -> Float:
    """What no line along the columns of (n, k) explains of errors (n, d), as far as there are rows enough to tell."""
    scale = along.std(axis=0)
    features = np.hstack((np.ones((len(along), 1)), (along - along.mean(axis=0))[:, scale > 0] / scale[scale > 0]))
    if len(features) < ROWS_A_FEATURE * features.shape[1]:
        return errors
    return errors - features @ NormalEquations.of(features, errors).ridge(RIDGE)
