"""A plan's surroundings: dynamics to first order and costs to second, at every step of the horizon."""

from dataclasses import dataclass

from isthmus.core import Float


@dataclass(frozen=True)
class Local:
    """What changes with small deviations x and u from n plans of T steps.

    x' = A x + B u, at a cost of lx x + lu u + (x lxx x + u luu u) / 2 + u lux x in every step, and Vx x + x Vxx x / 2
    at the end.
    """

    A: Float
    """(n, T, d, d)."""
    B: Float
    """(n, T, d, act)."""
    lx: Float
    """(n, T, d)."""
    lu: Float
    """(n, T, act)."""
    lxx: Float
    """(n, T, d, d)."""
    luu: Float
    """(n, T, act, act)."""
    lux: Float
    """(n, T, act, d)."""
    Vx: Float
    """(n, d)."""
    Vxx: Float
    """(n, d, d)."""
