"""Where each method wins, by the figures of many comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from isthmus.experiments.comparison.advice import is_fair
from isthmus.experiments.comparison.case import Entry
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.row import Row

WIN_COLUMNS = ("method", "the one to take ", "among the best ", "better than nothing ", "worse than nothing ", "of ")


@dataclass(frozen=True)
class Record:
    """What one entry came to, as names of the cases."""

    entry: Entry
    compared: list[str] = field(default_factory=list[str])
    """Where it has a score."""
    taken: list[str] = field(default_factory=list[str])
    """Where it is the advice."""
    best: list[str] = field(default_factory=list[str])
    """Where nothing that may be used beats it beyond the noise."""
    helps: list[str] = field(default_factory=list[str])
    """Where it beats the expert as it is."""
    hurts: list[str] = field(default_factory=list[str])
    """Where the expert as it is beats it."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Where it cannot serve, and why."""

    def add(self, case: str, row: Row, comparison: Comparison) -> None:
        """Count what it came to in a comparison."""
        if row.problem:
            self.refused[case] = row.problem
        idle = comparison.unadapted
        if not row.scores or idle is None:
            return
        rivals = [idle, *(one for one in comparison.rows if one.scores and is_fair(one))]
        for names, holds in (
            (self.compared, True),
            (self.taken, comparison.advice.take == row.label),
            (self.best, not any(one.beats(row) for one in rivals)),
            (self.helps, row.beats(idle)),
            (self.hurts, idle.beats(row)),
        ):
            if holds:
                names.append(case)

    @property
    def cells(self) -> tuple[str, ...]:
        """Under `WIN_COLUMNS`."""
        counts = (len(names) for names in (self.taken, self.best, self.helps, self.hurts, self.compared))
        return (self.entry.label, *map(str, counts))

    @property
    def sentence(self) -> str:
        """In words."""
        texts = [
            f"{text} {_by_task(names)}"
            for text, names in (
                ("is the one to take on", self.taken),
                ("is level with the best on", [name for name in self.best if name not in self.taken]),
                ("does worse than nothing on", self.hurts),
                ("cannot serve", list(self.refused)),
            )
            if names
        ]
        barred = " It sees the target's reward, and is never the advice." if self.entry.kind.sees_reward else ""
        return f"{self.entry.label} {', and '.join(texts) or 'is nowhere among the best, and nowhere harmful'}.{barred}"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"method": self.entry.label} | {name: value for name, value in vars(self).items() if name != "entry"}


def _by_task(names: Sequence[str]) -> str:
    """Cases in words, each robot with its gaps."""
    gaps: dict[str, list[str]] = {}
    for name in names:
        task, _, gap = name.partition(", ")
        gaps.setdefault(task, []).append(gap)
    return ", ".join(f"{task} ({', '.join(some)})" for task, some in gaps.items())


def records(comparisons: Sequence[Comparison]) -> list[Record]:
    """One for every entry, in the order in which they are first met."""
    found: dict[Entry, Record] = {}
    for comparison in comparisons:
        for row in comparison.rows:
            found.setdefault(row.entry, Record(row.entry)).add(comparison.case.name, row, comparison)
    return list(found.values())
