"""The results of a comparison so far: rows, oracles and advice."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from isthmus.core.command import command_of
from isthmus.experiments.by_seed import MISSING, commit_text, distinct
from isthmus.experiments.comparison.advice import Advice, advise, score_text
from isthmus.experiments.comparison.case import UNADAPTED, Case, choose_entries
from isthmus.experiments.comparison.cells import method_file, oracle_file
from isthmus.experiments.comparison.row import Row
from isthmus.experiments.grid import Json

REWARD = "(! the target's reward: never the advice)"
COLUMNS = ("method", "score ", "seeds ", "samples ", "enough ", "episodes ", "fit, s ", "step, µs ", "what it sees")
BRIEF = ("method", "score ", "samples ", "fit, s ", "step, µs ", "sees")
"""What fits on a terminal; the rest is in notes."""


@dataclass(frozen=True)
class Comparison:
    """What came of a case."""

    case: Case
    seeds: int
    rows: tuple[Row, ...]
    oracle_scores: Mapping[str, Json]
    """By metric, those that are there."""

    @staticmethod
    def of(case: Case, found: Mapping[str, Json], seeds: int) -> "Comparison":
        """Put together what is there."""
        by_entry = {
            entry: {seed: found[file] for seed in range(seeds) if (file := method_file(case, entry, seed)) in found}
            for entry in case.entries
        }
        return Comparison(
            case=case,
            seeds=seeds,
            rows=tuple(Row.of(case, entry, one, seeds) for entry, one in by_entry.items()),
            oracle_scores={
                metric: found[file] for metric in case.metrics if (file := oracle_file(case, metric)) in found
            },
        )

    @cached_property
    def advice(self) -> Advice:
        """Which method to take."""
        return advise(self.rows, self.known_oracle_scores)

    @property
    def is_whole(self) -> bool:
        """Whether no run of it is missing."""
        return not any(row.missing for row in self.rows if not row.problem)

    @property
    def command(self) -> str:
        """What makes it again."""
        case = self.case
        if case.round_ends:
            return command_of(("experiment", "fixed-gaps"), {"tasks": case.task, "seeds": self.seeds})
        names = dict.fromkeys(entry.method for entry in case.entries if entry.method != UNADAPTED)
        picked = None if set(case.entries) == set(choose_entries()) else ",".join(names)
        options = {"gap": case.gap, "samples": case.samples, "methods": picked, **case.options, "seeds": self.seeds}
        return command_of(("compare", case.task), options)

    @property
    def versions(self) -> list[dict[str, str]]:
        """Everything that cells were computed with; one entry unless it changed on the way."""
        return distinct([versions for row in self.rows for versions in row.values("versions")])

    def to_json(self) -> Json:
        """As plain data."""
        return {
            "task": self.case.task,
            "gap": self.case.gap,
            "samples": self.case.samples,
            "seeds": self.seeds,
            "rows": [row.to_json() for row in self.rows],
            "ceiling": {metric: dict(one) for metric, one in self.oracle_scores.items()},
            "advice": self.advice.text,
            "take": self.advice.take,
            "control_period_microseconds": self.case.control_period,
            "command": self.command,
            "commit": commit_text(self.versions),
            "versions": self.versions,
        }

    @property
    def known_oracle_scores(self) -> dict[str, float]:
        """The oracle's score by metric, where it has one."""
        return {metric: float(one["normalised"]) for metric, one in self.oracle_scores.items() if "normalised" in one}

    @property
    def unadapted(self) -> Row | None:
        """The expert as it is, once it has a score."""
        return next((row for row in self.rows if row.is_unadapted and row.scores), None)

    @property
    def taken(self) -> Row | None:
        """The row to take."""
        return next((row for row in self.rows if row.label == self.advice.take), None)

    def table(self) -> list[tuple[str, ...]]:
        """The rows for people, under `COLUMNS`."""
        return [_cells(row) for row in self.rows]

    def brief(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """The rows under `BRIEF`, and notes: what is seen, by number, and what is particular to a row."""
        sees = dict.fromkeys(_sees_text(row) for row in self.rows)
        marks = {text: f"{number}{'!' if REWARD in text else ''}" for number, text in enumerate(sees, start=1)}
        rows = [
            (cells[0], cells[1] or "cannot", cells[3], *cells[6:8], marks[_sees_text(row)])
            for row, cells in zip(self.rows, self.table(), strict=True)
        ]
        notes = [f"sees {mark}: {text}" for text, mark in marks.items()]
        return rows, notes + [f"{row.label}: {note}" for row in self.rows for note in self._notes(row)]

    def _notes(self, row: Row) -> list[str]:
        return [
            text
            for text, wanted in (
                (row.problem, row.problem is not None),
                (f"{row.seeds} seeds so far", bool(row.missing and not row.problem)),
                (f"{row.episodes} episodes a score", row.episodes != self.case.default_episodes),
                ("its control step takes longer than the control period", not row.keeps_up),
            )
            if wanted and text
        ]

    def oracle_table(self) -> list[tuple[str, str, str]]:
        """Metric, score, and how often the wanted state was out of reach."""
        return [(metric, *_oracle_cells(self.oracle_scores.get(metric))) for metric in self.case.metrics]


def _cells(row: Row) -> tuple[str, ...]:
    sees, fit = _sees_text(row), row.median("fit_seconds")
    if row.problem and not row.scores:
        return (row.label, *7 * ("",), row.problem)
    if not row.scores:
        return (row.label, MISSING, row.seeds, "", "", str(row.episodes), "", "", sees)
    return (
        row.label,
        score_text(row),
        row.seeds,
        f"{row.samples:,}",
        f"{row.samples_needed:,}",
        str(row.episodes),
        "" if fit is None else f"{fit:.1f}",
        _step_text(row),
        f"{sees}; {row.problem}" if row.problem else sees,
    )


def _sees_text(row: Row) -> str:
    return f"{row.entry.kind.sees} {REWARD}" if row.entry.kind.sees_reward else row.entry.kind.sees


def _step_text(row: Row) -> str:
    took = row.step_microseconds
    return "" if took is None else f"{took:,.0f}" + ("" if row.keeps_up else " (too slow)")


def _oracle_cells(found: Json | None) -> tuple[str, str]:
    if found is None:
        return MISSING, ""
    if "problem" in found:
        return "", str(found["problem"])
    return f"{found['normalised']:.3f} ± {found['standard_error']:.3f}", f"{found['out_of_reach']:.0%}"
