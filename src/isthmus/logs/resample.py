"""Columns with their own time stamps to even times, without aliasing."""

import numpy as np
from scipy.interpolate import Akima1DInterpolator
from scipy.signal import fftconvolve, firwin  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float

TAPS = 20
"""Of the anti-alias filter, for each row of the result, to both sides together."""
PASS = 0.8
"""Where the filter cuts off, as a share of half the rate of the result."""
FASTER = 1.1
"""A column that is sampled this much faster than the result is filtered before rows are taken from it."""


def measured_at(even: Float, time: Float, values: Float) -> Float:
    """A measurement (T,), interpolated at even times (N,); faster ones are low-passed first, without delay."""
    if len(time) < 4:
        return np.interp(even, time, values)
    dt = (even[-1] - even[0]) / max(len(even) - 1, 1)
    step = float(np.median(np.diff(time)))
    if len(even) < 2 or dt < FASTER * step:
        return _interpolated(even, time, values)
    times = int(np.ceil(dt / step))
    fine = even[0] + dt / times * np.arange((len(even) - 1) * times + 1)
    filtered = _low_passed(_interpolated(fine, time, values), times)
    return filtered[::times]


def held_mean(even: Float, dt: float, time: Float, values: Float) -> Float:
    """A command (T,) that holds until the next one: its mean over each step of `dt` from even times (N,) on.

    The mean is what acts on a robot during the step, and it is an anti-alias filter besides.
    """
    ends = np.append(time, max(time[-1], even[-1]) + 2 * dt)
    middle = float(values[0])  # sums of differences from it stay small, and exact
    total = np.concatenate([[0.0], np.cumsum((values - middle) * np.diff(ends))])
    sums = np.interp(np.concatenate([even, even + dt]), ends, total)
    share = np.clip((even + dt - time[0]) / dt, 1e-9, 1.0)  # before the first command there is none to average
    return middle + (sums[len(even) :] - sums[: len(even)]) / (dt * share)


def _interpolated(even: Float, time: Float, values: Float) -> Float:
    """Akima's interpolation: smooth, and a jump in the values disturbs no more than its neighbours."""
    inside = np.clip(even, time[0], time[-1])
    return np.asarray(Akima1DInterpolator(time, values)(inside), np.float64)


def _low_passed(values: Float, times: int) -> Float:
    """Values below half of the rate that is left after taking each of `times`; the filter has no delay."""
    half = min(TAPS * times // 2, len(values) - 1)
    if half < 1:
        return values
    taps: Float = np.asarray(firwin(2 * half + 1, PASS / times), np.float64)  # pyright: ignore[reportUnknownArgumentType]
    before, after = 2 * values[0] - values[half:0:-1], 2 * values[-1] - values[-2 : -half - 2 : -1]
    return fftconvolve(np.concatenate([before, values, after]), taps, mode="valid")
