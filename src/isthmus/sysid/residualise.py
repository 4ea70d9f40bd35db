"""Errors, less what depends on something linearly."""

import numpy as np

from isthmus.core import Float
from isthmus.core.ridge import NormalEquations

ROWS_A_FEATURE, RIDGE = 3, 1.0


def residualise(errors: Float, along: Float) -> Float:
    """Errors (n, d) less their linear regression on the columns of (n, k), where there are rows enough for one."""
    scale = along.std(axis=0)
    features = np.hstack((np.ones((len(along), 1)), (along - along.mean(axis=0))[:, scale > 0] / scale[scale > 0]))
    if len(features) < ROWS_A_FEATURE * features.shape[1]:
        return errors
    return errors - features @ NormalEquations.of(features, errors).ridge(RIDGE)
