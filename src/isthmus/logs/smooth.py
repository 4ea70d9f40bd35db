"""Smooth motion out of noisy columns: positions, velocities and accelerations that belong together."""

from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Bool, Float
from isthmus.logs.robot_log import RobotLog

WIDTH = 0.06
"""Standard deviation of the Gaussian window, in periods of the highest frequency that matters."""
POWER = 0.95
"""Share of the velocities' power that lies below the highest frequency that matters."""
NOISE = 10.0
"""Times the median power of the upper half of all frequencies that is taken for noise."""
NARROWEST, WIDEST = 1.0, 0.1
"""Standard deviation of the window: at least in rows, at most in seconds."""
MARGIN = 3.0
"""Standard deviations at both ends of a segment that the window spoils."""


def window_of(log: RobotLog) -> float:
    """Standard deviation in rows of the window that smooths a log without losing its motion."""
    longest = max(pairwise([*log.starts, len(log)]), key=lambda ends: ends[1] - ends[0])
    position = log.position[longest[0] : longest[1]]
    if len(position) < 16:
        return NARROWEST
    line = position[0] + np.linspace(0, 1, len(position))[:, None] * (
        position[-1] - position[0]
    )  # what is left begins and ends at 0
    power = np.square(np.abs(np.fft.rfft(position - line, axis=0)))
    frequency = np.fft.rfftfreq(len(position), log.dt)
    noise = NOISE * np.median(power[len(power) // 2 :], axis=0)  # white, as that of encoders
    moving = np.maximum(power - noise, 0) * np.square(frequency)[:, None]
    share = moving / np.maximum(moving.sum(axis=0), 1e-30)
    total = np.cumsum(share.mean(axis=1))
    place = int(np.searchsorted(total, POWER * float(total[-1])))
    highest = frequency[min(place, len(total) - 1)]
    width = WIDTH / max(float(highest), 0.1)
    return max(min(width, WIDEST) / log.dt, NARROWEST)


def smoothed(log: RobotLog, values: Float, window: float, order: int = 0) -> Float:
    """The derivative of that order of values (T, k), smoothed within each segment."""
    found = np.empty_like(values)
    for begin, end in pairwise([*log.starts, len(log)]):
        found[begin:end] = gaussian_filter1d(values[begin:end], window, axis=0, order=order, mode="nearest")
    return found / log.dt**order


def sound_rows(log: RobotLog, window: float) -> Bool:
    """Rows that are far enough from the ends of their segment to be smoothed soundly (T,)."""
    keep = np.zeros(len(log), np.bool_)
    margin = int(np.ceil(MARGIN * window)) + 1
    for begin, end in pairwise([*log.starts, len(log)]):
        keep[begin + margin : max(end - margin, begin + margin)] = True
    return keep
