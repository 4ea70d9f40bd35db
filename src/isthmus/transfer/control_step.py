"""How long one robot waits for its command."""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, PolicyWrapper, World, act, rollout
from isthmus.io import from_json, read_json

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


def time_step(policy: AnyPolicy, history: int, world: World, rng: np.random.Generator) -> StepTime:
    """Time commands for one robot; `world` is to be a simulator, for none of its steps is counted."""
    timed = _Timed(policy)
    took = timed.seconds
    for _ in rollout(world, timed, world.reset(rng), history=history, steps=WARM + MOST, restart=rng):
        if len(took) >= WARM + FEWEST and sum(took) >= PATIENCE:
            break
    counted = 1e6 * np.array(took[WARM:])
    p50, p99 = np.percentile(counted, (50, 99))
    return StepTime(float(p50), float(p99), float(counted.max()), len(counted))


@dataclass(frozen=True)
class _Timed(PolicyWrapper):
    """A policy whose control steps are timed."""

    policy: AnyPolicy
    seconds: list[float] = field(default_factory=list[float])

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        began = time.perf_counter()
        acted = act(self.policy, history, state)
        self.seconds.append(time.perf_counter() - began)
        return acted
