"""Comparisons as files: JSON, markdown and a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isthmus.core.commit import EARLIER
from isthmus.experiments.by_seed import MISSING, commit_text
from isthmus.experiments.comparison.comparison import COLUMNS, Comparison
from isthmus.experiments.page import Page, publish
from isthmus.experiments.tables import Section, table

ORACLE_COLUMNS = ("oracle", "score ", "wanted state out of reach ")
SCALE = (
    "Scores are normalised: 1 is the expert in its own simulator, 0 is doing nothing there; mean ± standard deviation "
    "over seeds. Samples are steps taken on the target, and enough are those from which the score stayed within the "
    "noise of what it came to. Fit is the time of all learning, and step is a control step of one robot."
)
ORACLE = (
    "The oracle is no method: it chooses every command in the target simulator itself, so that the next "
    "state is the one that the source simulator expects. An underactuated robot cannot reach all of it, so its score "
    "depends on which errors count: all alike (even), those that no actuator moves five times more (root), or each by "
    "what it costs to correct later (cost-to-go). Methods that plan are not bound by it."
)


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Write compare.json, compare.md and compare.html."""
    title = f"{comparison.case.task}, {comparison.case.gap}"
    made = f"Made by `{comparison.command}`, {code_text([comparison])}."
    text = "\n\n".join((f"# {title}", comparison.advice.text, *tables(comparison), *about([comparison]), made))
    page = page_of(title, [comparison], lead=[comparison.advice.text])
    publish(folder, "compare", comparison.to_json(), f"{text}\n", page=page)


def page_of(
    title: str,
    comparisons: Sequence[Comparison],
    *,
    lead: Sequence[str],
    sections: Sequence[Section] = (),
) -> Page:
    """The page: what `lead` says, the drawing, sections, and every comparison."""
    every = [versions_text(versions) for one in comparisons for versions in one.versions]
    content = {
        "title": title,
        "lead": lead,
        "sections": sections,
        "comparisons": [_page_part(one) for one in comparisons],
        "about": about(comparisons),
        "versions": list(dict.fromkeys(every)),
    }
    return Page("compare.html", content)


def tables(comparison: Comparison) -> list[str]:
    """The tables of a comparison in markdown."""
    oracle_scores = [table(ORACLE_COLUMNS, comparison.oracle_table())] if comparison.case.metrics else []
    return [table(COLUMNS, comparison.table()), *oracle_scores]


def about(comparisons: Sequence[Comparison]) -> list[str]:
    """How to read them."""
    return [SCALE, ORACLE] if any(one.case.metrics for one in comparisons) else [SCALE]


def _page_part(comparison: Comparison) -> dict[str, Any]:
    """What the page shows of a comparison."""
    best = max((row.mean for row in comparison.rows if row.scores), default=1.0)
    rows = [
        {
            "cells": cells,
            "share": min(max(row.mean / max(best, 1.0), 0.0), 1.0) if row.scores else None,
            "taken": row.label == comparison.advice.take,
            "barred": row.entry.kind.sees_reward,
            "absent": not row.scores,
        }
        for row, cells in zip(comparison.rows, comparison.table(), strict=True)
    ]
    return {
        "name": comparison.case.name,
        "advice": comparison.advice.text,
        "seeds": comparison.seeds,
        "budget": comparison.case.samples,
        "columns": COLUMNS,
        "rows": rows,
        "oracle_columns": ORACLE_COLUMNS,
        "oracles": comparison.oracle_table(),
        "missing_word": MISSING,
        "command": comparison.command,
        "period": f"{comparison.case.control_period:,.0f}",
    }


def code_text(comparisons: Sequence[Comparison]) -> str:
    """Which code made them."""
    return "commit " + commit_text([versions for one in comparisons for versions in one.versions])


def versions_text(versions: Mapping[str, str]) -> str:
    """What something was computed with, in a line."""
    return ", ".join(f"{name} {version}" for name, version in ({"commit": EARLIER} | dict(versions)).items())
