"""What a log holds, whatever file it came from: time series with names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem, unknown_name

MOST_VALUES = 100_000_000
"""Numbers that a log may hold, all together: 800 MB."""


@dataclass(frozen=True)
class Series:
    """Vectors of one kind over time: a topic's field, a group of columns, an array."""

    name: str
    """As `/joint_states.position`, or the name of a column or an array."""
    time: Float
    """(T,) seconds. Series of one log share a clock; they need not be sampled at the same moments."""
    values: Float
    """(T, k); what is missing is NaN."""
    labels: tuple[str, ...]
    """(k,) names of the components: joint names where the log has them, else 0, 1, ..."""
    received: Float | None = None
    """(T,) seconds at which a recorder received what bears the time stamps `time`."""

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape != (len(self.time), len(self.labels)):
            raise ValueError(f"{self.name}: {self.values.shape} values for {len(self.time)} times")
        for array in (self.time, self.values):
            array.setflags(write=False)

    @property
    def rate(self) -> float:
        """Samples a second, by the median step; 0 for a single sample."""
        steps = np.diff(self.time)
        steps = steps[steps > 0]
        return float(1 / np.median(steps)) if len(steps) else 0.0


@dataclass(frozen=True)
class Log:
    """All series of a log, and what was noticed while it was read."""

    path: Path
    format: str
    series: Mapping[str, Series]
    notes: tuple[str, ...] = ()
    """A sentence for each thing that could not be read, as a damaged tail."""
    meta: Mapping[str, str | float] | None = None
    """Single values that describe the whole log, as a mass or a gain."""

    def __getitem__(self, name: str) -> Series:
        """The series of that name; an unknown one is a Problem that lists what there is."""
        if name not in self.series:
            raise unknown_name(f"series of {self.path.name}", name, self.series)
        return self.series[name]


def make_log(
    path: Path,
    kind: str,
    series: Iterable[Series],
    notes: Sequence[str] = (),
    meta: Mapping[str, str | float] | None = None,
    *,
    from_zero: bool = True,
) -> Log:
    """A log of `series`; empty ones are left out. Its clock begins `from_zero` with the earliest sample."""
    kept = [one for one in series if len(one.time)]
    if not kept:
        said = f" ({notes[0]})" if notes else ""
        raise Problem(f"{path} holds no numbers over time{said}: a log needs at least one series")
    if sum(one.values.size for one in kept) > MOST_VALUES:
        raise Problem(f"{path} holds more than {MOST_VALUES:,} numbers: split it, or leave out topics with images")
    start = min(float(one.time.min()) for one in kept) if from_zero else 0.0
    shifted = (
        Series(
            one.name, one.time - start, one.values, one.labels, None if one.received is None else one.received - start
        )
        for one in kept
    )
    return Log(path, kind, {one.name: one for one in shifted}, tuple(notes), meta)


def numbered(count: int) -> tuple[str, ...]:
    """Labels of components that have no names."""
    return tuple(str(number) for number in range(count))
