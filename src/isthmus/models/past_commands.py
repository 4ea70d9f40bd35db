"""The commands of the last steps, which may still be on their way."""

import numpy as np

from isthmus.core import Float


def recorded_past(actions: Float, steps: int) -> Float:
    """The `steps` actions before each of a trajectory (T, act), oldest first (T, steps * act); zeros at its start."""
    if not steps:
        return np.empty((len(actions), 0))
    led = np.pad(actions, ((steps, 0), (0, 0)))[:-1]
    windows = np.lib.stride_tricks.sliding_window_view(led, steps, axis=0)  # (T, act, steps)
    return windows.transpose(0, 2, 1).reshape(len(actions), -1)
