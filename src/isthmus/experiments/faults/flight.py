"""What a robot's own log says of how it was treated. Limits are checked here anew, with nothing of what keeps them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Float
from isthmus.robots.fetch.arm import JOINTS, REACH, SPEED_LIMITS

PERIOD = 0.1
LEAD = 4.0
"""How many steps at its speed limit a joint may be led by."""
SLACK = 1e-6
MOVED = 0.03
"""Seconds that a joint may have moved on for between being measured and being commanded."""
SLOW = 0.1
"""Share of its speed limit below which a joint is at rest."""


@dataclass(frozen=True)
class Flight:
    """A stretch of the log: times in seconds (n,), positions and speeds (n, 7), the fastest joint's share (n,)."""

    goals: list[dict[str, Any]]
    holds: list[float]
    faults: list[float]
    times: Float
    positions: Float
    speeds: Float
    fastest: Float

    @staticmethod
    def read(path: Path, since: float) -> "Flight":
        """What was written after `since`; a last line that was cut short is left out."""
        records: list[dict[str, Any]] = []
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(json.loads(text))
            except json.JSONDecodeError:
                continue
        records = [line for line in records if line["at"] >= since]
        states = [line for line in records if line["kind"] == "state"]
        return Flight(
            goals=[line for line in records if line["kind"] == "goal"],
            holds=[line["at"] for line in records if line["kind"] == "hold"],
            faults=[line["at"] for line in records if line["kind"] == "fault"],
            times=np.array([line["at"] for line in states]),
            positions=np.array([line["positions"] for line in states]).reshape(-1, len(JOINTS)),
            speeds=np.array([line["speeds"] for line in states]).reshape(-1, len(JOINTS)),
            fastest=np.array([line["fastest"] for line in states]),
        )

    @property
    def peak(self) -> float:
        """The largest speed of a joint, as a share of its limit."""
        return float(self.fastest.max(initial=0.0))

    def at_rest(self, since: float) -> float | None:
        """When the arm came to rest after `since` for good; None if it did not."""
        moving = (np.abs(self.speeds) > SLOW * SPEED_LIMITS).any(axis=1) & (self.times >= since)
        if not len(self.times) or moving[-1]:
            return None
        return float(self.times[np.flatnonzero(moving)[-1] + 1]) if moving.any() else since

    def travel(self, since: float) -> float:
        """How far a joint went after `since`, in rad."""
        after = self.positions[self.times >= since]
        return float(np.abs(after - after[0]).max()) if len(after) else 0.0

    def outside(self) -> list[str]:
        """What the goals break: range, speed from point to point and from goal to goal, distance from the arm."""
        broken: list[str] = []
        last: Float | None = None
        for goal in self.goals:
            order = [goal["names"].index(joint) for joint in JOINTS]
            before, previous = 0.0, last
            for after, positions in goal["points"]:
                point = np.array(positions)[order]
                if (np.abs(point) > REACH + SLACK).any():
                    broken.append("range")
                if (
                    previous is not None
                    and (np.abs(point - previous) > SPEED_LIMITS * max(after - before, PERIOD) + SLACK).any()
                ):
                    broken.append("step")
                if (np.abs(point - self._there(goal["at"])) > self._lead(after)).any():
                    broken.append("lead")
                before, previous = after, point
            last = np.array(goal["points"][0][1])[order]
        return broken

    def _there(self, at: float) -> Float:
        return self.positions[min(int(np.searchsorted(self.times, at)), len(self.times) - 1)]

    @staticmethod
    def _lead(after: float) -> Float:
        """What was measured is a little old, and later points of a goal may be further by what the arm moves."""
        return SPEED_LIMITS * (LEAD * PERIOD + MOVED + after - min(after, PERIOD))
