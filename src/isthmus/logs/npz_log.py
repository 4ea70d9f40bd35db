"""Archives of NumPy arrays: arrays as long as the time array are series, single numbers describe the log."""

from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import open_regular
from isthmus.io.bounded import Unreadable, brief, parse_npy, unpack
from isthmus.logs.columns import clock_of, seconds
from isthmus.logs.series import Log, Series, make_log, numbered


def read_npz(path: Path) -> Log:
    """The arrays of an npz file as series. Arrays of Python objects are never read, since that would run code."""
    notes: list[str] = []
    arrays: dict[str, np.ndarray] = {}
    try:
        with open_regular(path, follow=True) as file:
            entries = unpack(file)
    except Unreadable as error:
        raise Problem(f"{path} is not an npz file, or it is damaged ({brief(error)})") from error
    for entry, content in entries.items():
        name = entry.removesuffix(".npy")
        try:
            arrays[name] = parse_npy(content)
        except Unreadable as error:
            notes.append(f"the array {name} was left out: {brief(error)}")
    numbers = {name: one.astype(float) for name, one in arrays.items() if one.dtype.kind in "biuf"}
    time = _time(path, numbers, notes)
    series: list[Series] = []
    meta: dict[str, str | float] = {}
    for name, values in numbers.items():
        if values.ndim and len(values) == len(time):
            flat = values.reshape(len(values), -1)
            series.append(Series(name, time, flat, numbered(flat.shape[1])))
        elif values.size == 1:
            meta[name] = float(values.reshape(()))
        elif values.ndim == 1:
            meta |= {f"{name}.{number}": float(value) for number, value in enumerate(values[:100])}
        else:
            notes.append(f"the array {name} was left out: its length {len(values)} is not that of the time {len(time)}")
    return make_log(path, "npz", series, notes, meta)


def _time(path: Path, numbers: dict[str, Float], notes: list[str]) -> Float:
    clock = clock_of([name for name, values in numbers.items() if values.size == max(values.shape, default=0) > 1])
    if clock is not None:
        time, assumed = seconds(clock, numbers.pop(clock).reshape(-1))
        notes += [assumed] if assumed else []
        return time
    step = next(
        (name for name in ("dt", "timestep", "control_dt") if name in numbers and numbers[name].size == 1), None
    )
    longest = max((len(values) for values in numbers.values() if values.ndim), default=0)
    if step is None or not longest:
        raise Problem(f"{path} has no time: it needs an array named time or timestamp, or a number named dt")
    dt = float(numbers[step].reshape(()))
    notes.append(f"there is no time array: samples are taken to be {dt:g} s apart ({step})")
    return np.arange(longest, dtype=np.float64) * dt
