"""Where a robot was and how fast it moved, without the delay of a causal filter: what replays begin from.

A cubic is fitted to the positions around each sample. It is what the recorded positions say, whoever filtered the
velocities that were recorded beside them.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy.signal import savgol_filter  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float

SPAN = 0.036
"""Seconds around a sample that are looked at."""
FEWEST = 5
"""Samples that are looked at, at least."""


def smoothed(position: Float, dt: float, span: float = SPAN) -> tuple[Float, Float]:
    """Positions and velocities (T, n) of one segment, from its positions (T, n)."""
    width = max(FEWEST, round(span / dt) | 1)
    width = min(width, (len(position) - 1) | 1)
    if width > len(position):
        width -= 2
    order = min(3, width - 1)
    if width < 3:
        return position.copy(), np.gradient(position, dt, axis=0) if len(position) > 1 else np.zeros_like(position)
    fitted = cast("Callable[..., Any]", savgol_filter)  # its stubs leave arrays without a type
    still = np.asarray(fitted(position, width, order, axis=0), np.float64)
    return still, np.asarray(fitted(position, width, order, deriv=1, delta=dt, axis=0), np.float64)
