"""Pair rows with columns, so that the costs of all pairs together are least."""

import numpy as np
from scipy.optimize import linear_sum_assignment  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float
from isthmus.logs.robot_body import Index


def assign(costs: Float) -> tuple[Index, Index]:
    """Rows and columns of the pairs, as many as the shorter side of the costs has."""
    rows, columns = linear_sum_assignment(costs)  # pyright: ignore[reportUnknownVariableType]
    return np.asarray(rows, np.intp), np.asarray(columns, np.intp)
