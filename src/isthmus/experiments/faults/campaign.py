"""All faults, many times each: a table, and the trials behind it."""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.core.commit import current_commit
from isthmus.experiments.faults.kinds import FAULTS, Fault, Phase
from isthmus.experiments.faults.row import run_row
from isthmus.experiments.pool import run_all
from isthmus.experiments.tables import table
from isthmus.hardware.processes import Transport
from isthmus.io import read_json, write_json

COLUMNS = (
    "fault",
    "during",
    "promise",
    "trials ",
    "hold (ms) ",
    "at rest (ms) ",
    "travel (rad) ",
    "peak speed ",
    "broken ",
)
"""Of the table. Times and travel are the median and the largest over the trials, peak speed the largest."""


@dataclass(frozen=True)
class Campaign:
    """What came of all faults, as plain data: the rows, and what they were measured with."""

    rows: list[dict[str, Any]]
    facts: dict[str, Any]

    @property
    def broken(self) -> int:
        """Trials that broke a promise."""
        return sum(bool(trial["broken"]) for row in self.rows for trial in row["trials"])

    def table(self) -> str:
        """A line for each fault and phase, in markdown."""
        return table(COLUMNS, [_line(row) for row in self.rows])

    @staticmethod
    def load(path: Path) -> "Campaign":
        """Read one that was written."""
        data = read_json(path)
        return Campaign(data["faults"], data["facts"])

    def write(self, path: Path) -> None:
        """Keep it."""
        write_json(path, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"facts": self.facts, "broken": self.broken, "faults": self.rows}


def run_campaign(
    trials: int,
    seed: int,
    lanes: int,
    only: str = "",
    tell: Callable[[str], None] = lambda _what: None,
    transport: Transport = "ros1",
) -> Campaign:
    """Inflict every fault with `only` in its name `trials` times in each of its phases, on `lanes` robots at once."""
    wanted = [
        _Trials(fault, phase, trials, seed, transport)
        for fault in FAULTS
        for phase in fault.phases
        if only in fault.name and transport in fault.transports
    ]
    if not wanted or trials < 1 or lanes < 1:
        names = ", ".join(fault.name for fault in FAULTS)
        raise Problem(f"there is nothing to try: give at least one trial and one lane, and part of a name of {names}")
    rows: dict[str, dict[str, Any]] = {}

    def deliver(work: _Trials, row: dict[str, Any]) -> None:
        rows[work.name] = row
        tell(", ".join(part for part in _line(row) if part))

    # Each row has a process of its own: rospy knows one ROS master in a process.
    run_all(wanted, _Trials.run, deliver, workers=lanes, fresh=True)
    return Campaign([rows[work.name] for work in wanted], _facts(trials, seed, lanes, transport))


@dataclass(frozen=True)
class _Trials:
    """All trials of a fault in one phase."""

    fault: Fault
    phase: Phase
    trials: int
    seed: int
    transport: Transport

    @property
    def name(self) -> str:
        return f"{self.fault.name}, {self.phase}"

    def run(self) -> dict[str, Any]:
        return run_row(self.fault, self.phase, self.trials, self.seed, self.transport).to_json()


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    trials: list[dict[str, Any]] = row["trials"]
    bound: float | None = row["bound_s"]
    promise = row["promise"] if bound is None else f"{row['promise']} ({1e3 * bound:.0f} ms)"
    stopped: list[dict[str, Any]] = [] if bound is None else trials  # elsewhere there is no hold to wait for
    return (
        row["fault"],
        row["phase"],
        promise,
        f"{len(trials)}",
        _median_and_worst((trial["hold"] for trial in stopped), 1e3, 0),
        _median_and_worst((trial["rest"] for trial in stopped), 1e3, 0),
        _median_and_worst((trial["travel"] for trial in stopped), 1.0, 2),
        f"{max(trial['peak'] for trial in trials):.2f}",
        f"{sum(bool(trial['broken']) for trial in trials)}",
    )


def _median_and_worst(values: Iterable[float | None], unit: float, digits: int) -> str:
    """The median and the largest of the values that there are."""
    known = np.array([unit * value for value in values if value is not None])
    return f"{np.median(known):.{digits}f} / {known.max():.{digits}f}" if len(known) else "-"


def _facts(trials: int, seed: int, lanes: int, transport: Transport) -> dict[str, Any]:
    return {
        "trials": trials,
        "seed": seed,
        "lanes": lanes,
        "transport": transport,
        "commit": current_commit(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }
