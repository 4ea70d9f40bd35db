"""How good each method is at several budgets, over all gaps, and how often it does harm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.experiments.by_seed import MISSING
from isthmus.experiments.comparison.case import Entry
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.row import Row

WORSE = 0.05
"""Below the expert as it is by more than this, a run has done harm."""


@dataclass(frozen=True)
class AtBudget:
    """What an entry came to with so many samples, of every gap and seed that is there."""

    entry: Entry
    budget: int
    scores: tuple[float, ...]
    gains: tuple[float, ...]
    """Over the expert as it is."""

    @property
    def median(self) -> float | None:
        """Of the scores."""
        return float(np.median(self.scores)) if self.scores else None

    @property
    def harmed(self) -> float | None:
        """Share of the runs that did harm."""
        return float(np.mean([gain < -WORSE for gain in self.gains])) if self.gains else None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "method": self.entry.label,
            "budget": self.budget,
            "runs": len(self.scores),
            "median": self.median,
            "harmed": self.harmed,
        }


def at_budgets(comparisons: Sequence[Comparison], budgets: Sequence[int]) -> list[AtBudget]:
    """For every entry that is not paid, in the order in which they are first met."""
    rows: dict[Entry, list[Row]] = {}
    for comparison in comparisons:
        for row in comparison.rows:
            if not row.entry.kind.sees_reward:
                rows.setdefault(row.entry, []).append(row)
    found: list[AtBudget] = []
    for entry, some in rows.items():
        for budget in budgets:
            pairs = [_at(one, budget) for row in some for one in row.found.values()]
            scores, gains = (tuple(pair[i] for pair in pairs) for i in (0, 1))
            found.append(AtBudget(entry, budget, scores, gains))
    return found


def budget_columns(budgets: Sequence[int]) -> tuple[str, ...]:
    """Of the table."""
    return ("method", *(f"{budget:,} " for budget in budgets), "runs ", f"worse by {WORSE} ")


def budget_table(found: Sequence[AtBudget], budgets: Sequence[int]) -> list[tuple[str, ...]]:
    """One row an entry, under `budget_columns`."""
    by_entry: dict[Entry, dict[int, AtBudget]] = {}
    for one in found:
        by_entry.setdefault(one.entry, {})[one.budget] = one
    return [_cells(entry, [some[budget] for budget in budgets]) for entry, some in by_entry.items()]


def _at(found: Mapping[str, Any], budget: int) -> tuple[float, float]:
    """The score with so many samples, and what it is above that of the expert as it is."""
    curve = [(int(samples), float(score)) for samples, score in found["curve"]]
    within = [score for samples, score in curve if samples <= budget]
    score = within[-1] if len(curve) > 1 else float(found["normalised"])
    return score, score - curve[0][1]


def _cells(entry: Entry, some: Sequence[AtBudget]) -> tuple[str, ...]:
    medians = (MISSING if one.median is None else f"{one.median:.3f}" for one in some)
    harm = [one.harmed for one in some if one.harmed is not None]
    return (entry.label, *medians, str(len(some[0].scores)), f"{max(harm):.0%}" if harm else "")
