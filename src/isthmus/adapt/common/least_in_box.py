"""The least of n small convex quadratics side by side, within limits."""

import numpy as np

from isthmus.core import Bool, Float
from isthmus.core.linear import solve

ITERATIONS = 20
HALVINGS = 8
ROUNDING = 1e-12
"""What is lost in rounding: smaller changes are none."""


def least_in_box(hessian: Float, slope: Float, low: Float, high: Float) -> tuple[Float, Bool]:
    """The u (n, act) that minimises u' hessian u / 2 + slope' u within limits, and where it is held at one.

    The hessians (n, act, act) must be positive definite. A number is held where it is at a limit and the cost falls
    beyond it; the others are where the cost is flat.
    """

    def value(u: Float) -> Float:
        return np.einsum("na,na->n", u, 0.5 * _times(hessian, u) + slope)

    u = np.clip(np.zeros_like(slope), low, high)
    held = np.zeros(slope.shape, np.bool_)
    for _ in range(ITERATIONS):
        gradient = _times(hessian, u) + slope
        held = ((u <= low) & (gradient > 0)) | ((u >= high) & (gradient < 0))
        step = -solve_free(hessian, gradient[..., None], held)[..., 0]
        size = np.ones((len(u), 1))
        before, moved = value(u), np.clip(u + step, low, high)
        for _ in range(HALVINGS):
            worse = value(moved) > before + ROUNDING * np.abs(before)
            if not worse.any():
                break
            size[worse] /= 2
            moved = np.clip(u + size * step, low, high)
        change = np.abs(moved - u).max(initial=0.0)
        u = moved
        if change <= ROUNDING:
            break
    return u, held


def solve_free(hessian: Float, right: Float, held: Bool) -> Float:
    """The x in hessian x = right for the rows that are not `held` (n, act), and zero for those that are."""
    free = ~held
    both = free[:, :, None] & free[:, None, :]
    return solve(np.where(both, hessian, np.eye(held.shape[1])), right * free[..., None])


def _times(matrices: Float, vectors: Float) -> Float:
    return np.einsum("nab,nb->na", matrices, vectors)
