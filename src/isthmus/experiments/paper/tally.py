"""The cells of a case put together: what is there, what is missing, and how far apart the seeds are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.core.commit import commits_of
from isthmus.experiments.paper.case import Case, Cell
from isthmus.experiments.paper.outcome import Outcome

MISSING, NOT_REACHED = "missing", "not reached"


@dataclass(frozen=True)
class Tally:
    """A case from every seed there is."""

    case: Case
    outcomes: tuple[Outcome, ...]
    """By seed."""
    missing: tuple[int, ...]
    """Seeds that are yet to come."""

    @property
    def seeds(self) -> str:
        """How many seeds there are, of how many."""
        there = len(self.outcomes)
        return f"{there} of {there + len(self.missing)}" if self.missing else str(there)

    @property
    def commit(self) -> str:
        """The commit of the code, or of each that made some of it."""
        return ", ".join(commits_of(outcome.versions for outcome in self.outcomes))

    def facts(self) -> dict[str, Any]:
        """What the case is and which seeds of it are there, as plain data."""
        config = self.case.config
        return {
            "robot": self.case.robot,
            "gap": self.case.gap,
            "arm": self.case.arm,
            "method": config.method,
            "history": config.settings.history,
            "budget": config.samples,
            "round_samples": config.round_samples,
            "evaluation_episodes": config.evaluation_episodes,
            "seeds": [outcome.seed for outcome in self.outcomes],
            "missing": list(self.missing),
            "commit": self.commit,
        }


def tally(cases: Sequence[Case], outcomes: Mapping[Cell, Outcome], asked: Mapping[str, int]) -> tuple[Tally, ...]:
    """One tally a case; of a robot, as many seeds are expected as were asked for, or as any of its cases has.

    Where neither is known, it is as for the other robots.
    """
    expected = dict(asked)
    for cell in outcomes:
        expected[cell.case.robot] = max(expected.get(cell.case.robot, 0), cell.seed + 1)
    most = max(expected.values(), default=0)
    expected = {case.robot: expected.get(case.robot, most) for case in cases}
    return tuple(
        Tally(
            case,
            tuple(outcomes[cell] for seed in range(expected[case.robot]) if (cell := case.cell(seed)) in outcomes),
            tuple(seed for seed in range(expected[case.robot]) if case.cell(seed) not in outcomes),
        )
        for case in cases
    )


@dataclass(frozen=True)
class Quartiles:
    """Median and quartiles; None is past all that was measured."""

    median: float | None
    low: float | None
    high: float | None

    @staticmethod
    def of(values: Sequence[float | None]) -> "Quartiles":
        """Of at least one value; None counts as larger than any other."""
        ordered = sorted(math.inf if value is None else value for value in values)
        return Quartiles(_quantile(ordered, 0.5), _quantile(ordered, 0.25), _quantile(ordered, 0.75))

    def text(self, form: str, unit: float = 1, beyond: str = "") -> tuple[str, str]:
        """Median and quartiles for people; `beyond` stands for a quartile that is past all that was measured."""
        median, low, high = (
            None if value is None else form.format(value / unit) for value in (self.median, self.low, self.high)
        )
        return median or NOT_REACHED, f"{low or beyond} to {high or beyond}"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"median": self.median, "quartiles": [self.low, self.high]}


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """Between the two nearest values, where both are there."""
    place = share * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    if math.isinf(above):
        return None
    return below + (above - below) * (place - math.floor(place))
