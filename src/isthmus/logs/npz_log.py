"""Archives of NumPy arrays: arrays as long as a time array are series, single numbers describe the log."""

from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import open_regular
from isthmus.io.bounded import Unreadable, brief, parse_npy, unpack
from isthmus.logs.clocks import APART, EPISODES, clock_of, one_after_the_other, seconds
from isthmus.logs.roles import words_in
from isthmus.logs.series import Log, Series, make_log, numbered

WIDEST = 500
"""Components of an array whose rows are components and whose columns are times."""
Arrays = dict[str, Float]


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
    clocks = _clocks(path, numbers, notes)
    series: list[Series] = []
    meta: dict[str, str | float] = {}
    for name, values in numbers.items():
        if (along := _along(name, values, clocks, notes)) is not None:
            time, flat = along
            series.append(Series(name, time, flat, numbered(flat.shape[1])))
        elif values.size == 1:
            meta[name] = float(values.reshape(()))
        elif values.ndim == 1:
            meta |= {f"{name}.{number}": float(value) for number, value in enumerate(values[:100])}
        else:
            lengths = " or ".join(str(len(time)) for time in clocks)
            notes.append(f"the array {name} was left out: its length {len(values)} is not that of the time {lengths}")
    return make_log(path, "npz", series, notes, meta)


def _along(name: str, values: Float, clocks: list[Float], notes: list[str]) -> tuple[Float, Float] | None:
    """The times and the values (T, k) of an array that is as long as a clock, the first one by preference."""
    for time in clocks:
        if values.ndim and len(values) == len(time):
            return time, values.reshape(len(values), -1)
    for time in clocks:
        if values.ndim == 2 and values.shape[1] == len(time) and len(values) <= WIDEST:
            notes.append(f"the array {name} has a row a component and a column a sample, and was transposed")
            return time, values.T
    return None


def _clocks(path: Path, numbers: Arrays, notes: list[str]) -> list[Float]:
    """The times of the log, taken out of its arrays: the main clock first, then clocks of other lengths."""
    clocks: list[Float] = []
    while True:
        lengths = {len(time) for time in clocks}
        vectors = [name for name, one in numbers.items() if one.size == max(one.shape, default=0) > 1]
        names = [name for name in vectors if numbers[name].size not in lengths]
        clock = clock_of(names) or next((name for name in names if clocks and _may_be_clock(name, numbers[name])), None)
        if clock is None:
            return clocks or [_counted(path, numbers, notes)]
        time, assumed = seconds(clock, numbers.pop(clock).reshape(-1))
        notes += [assumed] if assumed else []
        clocks.append(one_after_the_other(time, numbers, notes))


def _may_be_clock(name: str, values: Float) -> bool:
    """Whether an array is the clock of some other arrays: its name says so, and it rises."""
    return bool({"time", "t", "stamp"} & set(words_in(name))) and bool(np.all(np.diff(values.reshape(-1)) > 0))


def _counted(path: Path, numbers: Arrays, notes: list[str]) -> Float:
    """Times of samples that are counted, where there is no time array but a time step."""
    step = next(
        (name for name in ("dt", "timestep", "control_dt") if name in numbers and numbers[name].size == 1), None
    )
    longest = max((len(values) for values in numbers.values() if values.ndim), default=0)
    if step is None or not longest:
        raise Problem(f"{path} has no time: it needs an array named time or timestamp, or a number named dt")
    dt = float(numbers[step].reshape(()))
    notes.append(f"there is no time array: samples are taken to be {dt:g} s apart ({step})")
    episodes = _episodes(numbers)
    if episodes is None:
        return np.arange(longest, dtype=np.float64) * dt
    count, length = episodes
    for name, one in numbers.items():
        if one.shape[:2] == episodes:
            numbers[name] = one.reshape(count * length, -1)
    notes.append(f"its arrays have {count} episodes of {length} samples, which are put one after the other")
    numbers[EPISODES[0]] = np.repeat(np.arange(count, dtype=np.float64), length)
    return (np.arange(count)[:, None] * (length * dt + APART) + np.arange(length) * dt).reshape(-1)


def _episodes(numbers: Arrays) -> tuple[int, int] | None:
    """Episodes and samples of each, where all arrays but single numbers and lists are (episodes, samples, ...)."""
    shapes = {one.shape[:2] for one in numbers.values() if one.ndim > 1}
    deep = any(one.ndim > 2 for one in numbers.values())
    if not deep or len(shapes) != 1:
        return None
    (count, length) = shapes.pop()
    return (count, length) if count < length else None
