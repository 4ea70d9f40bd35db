"""How long one robot waits for its command."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import HistoryBuffer, Policy, World
from isthmus.data import from_json, read_json

WARM, FEWEST, MOST = 5, 10, 500
"""Calls that are not counted, and those that are."""
PATIENCE = 1.0
"""Seconds that a slow policy is measured for."""


@dataclass(frozen=True)
class StepTime:
    """Wall-clock time of one robot's control step, in microseconds.

    A robot waits on the wall clock: what other programs on the machine, threads or memory cost it counts too.
    """

    p50: float
    """The median."""
    p99: float | None = None
    """99 of 100 steps took no longer; None in runs that recorded the median alone."""
    worst: float | None = None
    steps: int = 0
    """How many steps were measured."""

    def __str__(self) -> str:
        """For people, in milliseconds."""
        if self.p99 is None or self.worst is None:
            return f"{self.p50 / 1e3:.2g} ms (median)"
        return f"{self.p50 / 1e3:.2g} ms (99 % within {self.p99 / 1e3:.2g} ms, worst {self.worst / 1e3:.2g} ms)"

    def to_json(self) -> dict[str, Any]:
        """As plain data; `microseconds` is the median, as in the files of earlier versions."""
        return {"microseconds": self.p50} | asdict(self)

    @staticmethod
    def load(path: Path) -> "StepTime":
        """Read a `step.json`, of this version or of an earlier one."""
        stored = from_json(_Stored, read_json(path), path, "the time of a control step")
        return StepTime(stored.microseconds, stored.p99, stored.worst, stored.steps)


@dataclass(frozen=True)
class _Stored:
    """The content of a `step.json`."""

    microseconds: float
    p50: float | None = None
    p99: float | None = None
    worst: float | None = None
    steps: int = 0


def time_step(policy: Policy, history: int, world: World, rng: np.random.Generator) -> StepTime:
    """Time commands for one robot; `world` is to be a simulator, for none of its steps is counted."""
    buffer = HistoryBuffer(world.spec, world.n, history)
    buffer.begin(world.reset(rng))
    took: list[float] = []
    while len(took) < WARM + FEWEST or (len(took) < WARM + MOST and sum(took) < PATIENCE):
        began = time.perf_counter()
        commands = policy(buffer.window)
        took.append(time.perf_counter() - began)
        step = world.step(commands)
        if step.ended.any():
            buffer.begin(world.reset(rng))
        else:
            buffer.append(step.applied, step.observations)
    counted = 1e6 * np.array(took[WARM:])
    p50, p99 = np.percentile(counted, (50, 99))
    return StepTime(float(p50), float(p99), float(counted.max()), len(counted))
