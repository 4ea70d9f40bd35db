"""Linear algebra with the types that NumPy's own leaves open."""

import numpy as np

from isthmus.core.arrays import Float


def solve(matrix: Float, right: Float) -> Float:
    """X in `matrix` x = `right`."""
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
