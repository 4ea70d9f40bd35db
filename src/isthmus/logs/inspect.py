"""What is in a log, and how well it was sampled."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from isthmus.core import Bool, Float
from isthmus.logs.series import Series
from isthmus.logs.units import Guess, guess_unit

GAP = 5.0
"""A step of this many median steps is a gap."""
LEVELS = 30
"""A series with fewer different values is a state or a count, and may well stay as it is."""
MOVING = 1e-3
"""Share of a series' range that it has to move between samples to count as moving."""


@dataclass(frozen=True)
class SeriesFacts:
    """One series: its sampling, what is wrong with it, and what it seems to be."""

    name: str
    samples: int
    components: int
    labels: tuple[str, ...]
    seconds: float
    rate: float
    """Samples a second, by the median step."""
    jitter: float
    """95th percentile of a step's distance from the median step, as a share of it."""
    gaps: int
    longest_gap: float
    """Seconds of the longest step."""
    backwards: int
    """Steps that do not go forward in time."""
    repeated: float
    """Share of samples in motion that equal the one before: above 0, the sensor refreshes more slowly than the log."""
    refresh: float
    """Fresh values a second while it moves; `rate` if it never repeats."""
    missing: float
    """Share of values that are not finite. Rows without any value do not count in what is above."""
    constant: tuple[str, ...]
    """Components that never change."""
    least: float
    greatest: float
    clock_offset: float | None
    """Median seconds by which samples were received after their time stamps; None if only one clock is in the log."""
    guess: Guess

    def to_json(self) -> dict[str, Any]:
        """Everything, for files."""
        return asdict(self)


def inspect_series(series: Series) -> SeriesFacts:
    """Measure one series."""
    there = np.any(np.isfinite(series.values), axis=1)
    there = there if there.any() else ~there
    values, time = series.values[there], series.time[there]
    steps = np.diff(time)
    forward = steps[steps > 0]
    median = float(np.median(forward)) if len(forward) else 0.0
    finite = np.isfinite(values)
    shown = np.where(finite, values, 0.0)
    still = values.shape[0] > 1 and (values == values[:1]).all(axis=0)
    repeated = _repeated(shown)
    offset = None if series.received is None else float(np.median(series.received[there] - time))
    rate = float(1 / median) if median else 0.0
    return SeriesFacts(
        name=series.name,
        samples=len(time),
        components=values.shape[1],
        labels=series.labels,
        seconds=float(time[-1] - time[0]),
        rate=rate,
        jitter=float(np.quantile(np.abs(forward - median), 0.95) / median) if median else 0.0,
        gaps=int(np.count_nonzero(steps > GAP * median)) if median else 0,
        longest_gap=float(steps.max()) if len(steps) else 0.0,
        backwards=int(np.count_nonzero(steps <= 0)),
        repeated=repeated,
        refresh=rate * (1 - repeated),
        missing=1 - np.count_nonzero(finite) / max(series.values.size, 1),
        constant=tuple(np.array(series.labels)[still].tolist()) if np.any(still) else (),
        least=float(values[finite].min()) if finite.any() else 0.0,
        greatest=float(values[finite].max()) if finite.any() else 0.0,
        clock_offset=offset,
        guess=guess_unit(series.name, values),
    )


def _repeated(values: Float) -> float:
    """Share of samples that equal the one before although the series moves on both sides of them.

    A joint at rest repeats its value and tells nothing: only rows between which and the row after next it moves count.
    """
    if len(values) < 8 or len(np.unique(values[:, 0])) < LEVELS:
        return 0.0
    same: Bool = np.all(values[1:] == values[:-1], axis=1)  # (T - 1,)
    span: Float = np.max(values, axis=0) - np.min(values, axis=0)
    around = np.abs(values[4:] - values[:-4]) > MOVING * np.where(span > 0, span, np.inf)  # (T - 4, k)
    moves = np.any(around, axis=1)
    between = same[1:-2]  # rows 2 .. T - 3 against the row before each, in the middle of the four steps
    return float(np.mean(between[moves])) if np.any(moves) else 0.0


def complaints(facts: SeriesFacts) -> list[str]:
    """A sentence for each thing about a series that a user should know before relying on it."""
    said: list[str] = []
    if facts.backwards:
        said.append(f"time does not advance at {facts.backwards} {'sample' if facts.backwards == 1 else 'samples'}")
    if facts.gaps == 1:
        said.append(f"a gap of {facts.longest_gap:.3g} s")
    elif facts.gaps:
        said.append(f"{facts.gaps} gaps, the longest {facts.longest_gap:.3g} s")
    if facts.repeated > 0.1:
        said.append(f"{facts.repeated:.0%} of samples repeat in motion: it refreshes at about {facts.refresh:.3g} Hz")
    if facts.missing:
        said.append(f"{facts.missing:.1%} of values are missing")
    if facts.constant and len(facts.constant) < facts.components:
        said.append(f"never changes: {', '.join(facts.constant[:6])}")
    elif facts.constant:
        said.append("never changes")
    if facts.jitter > 0.2:
        said.append(f"uneven: steps differ by up to {facts.jitter:.0%} from the median")
    if facts.clock_offset is not None and abs(facts.clock_offset) > 0.05:
        said.append(f"received {facts.clock_offset:.3g} s after its time stamps")
    return said
