"""Ratios that a noisy machine does not decide: both sides in turns, many times, and the median."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Benchmark:
    """One hot path against its floor."""

    name: str
    ratio: float
    half_iqr: float
    """Half the distance between the quartiles of the ratio over the repeats."""
    floor: str
    """What it is compared with."""
    goal: float
    better: Literal["higher", "lower"]
    step: dict[str, float] | None = None
    """Wall-clock microseconds of a control step, where one is measured: `p50`, `p99` and `worst` of all repeats."""

    @property
    def meets(self) -> bool:
        """Whether the goal is met."""
        return self.ratio >= self.goal if self.better == "higher" else self.ratio <= self.goal

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self) | {"meets": self.meets}


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turns(ours: Callable[[], object], floor: Callable[[], object], repeats: int) -> tuple[float, float]:
    """How many times longer ours takes than the floor: median and half the inter-quartile range."""
    ours()
    floor()
    ratios = [seconds(ours) / seconds(floor) for _ in range(repeats)]
    return middle(ratios)


def middle(values: list[float]) -> tuple[float, float]:
    """Median and half the inter-quartile range."""
    low, median, high = np.percentile(values, (25, 50, 75))
    return float(median), float(high - low) / 2
