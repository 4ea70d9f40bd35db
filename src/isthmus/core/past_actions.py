"""The commands of the last steps, which may still be on their way."""

import numpy as np

from isthmus.core.arrays import Float


def past_actions(actions: Float, steps: int, before: Float | float = 0.0) -> Float:
    """The `steps` actions before each of a trajectory (T, act), oldest first (T, steps * act).

    Before its start it was `before`, a number or (act,), all the time.
    """
    if not steps:
        return np.empty((len(actions), 0))
    lead = np.broadcast_to(before, (steps, actions.shape[1]))
    led = np.concatenate((lead, actions[:-1]))
    windows = np.lib.stride_tricks.sliding_window_view(led, steps, axis=0)  # (T, act, steps)
    return windows.transpose(0, 2, 1).reshape(len(actions), -1)
