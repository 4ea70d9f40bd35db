"""The suite as far as it is: what to take on each gap, where each method wins, and the oracles beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isthmus.experiments.by_seed import MISSING, commit_text
from isthmus.experiments.comparison.advice import score_text
from isthmus.experiments.comparison.budgets import WORSE, at_budgets, budget_columns, budget_table
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.draw import draw_suite
from isthmus.experiments.comparison.settings import BUDGETS, ORACLES_ON_PAGE
from isthmus.experiments.comparison.wins import WIN_COLUMNS, records
from isthmus.experiments.comparison.write import about, code_text, page_of, tables
from isthmus.experiments.page import publish
from isthmus.experiments.tables import Section

TITLE = "Every method on the same gaps"
TAKE_COLUMNS = ("task", "gap", "unadapted ", "take", "score ", "oracle ")
WINS = (
    "Counted over the gaps above. Among the best: nothing that may be used beats it beyond the noise, which is two "
    "standard errors of the difference over seeds, and at least 0.01. Better or worse than nothing: than the expert as "
    "it is, beyond the noise."
)


BY_BUDGET = (
    "The median score over all gaps and seeds that are there, with so many samples; and the share of the runs, at the "
    f"budget where it is largest, that end more than {WORSE} below the expert as it is. Only methods with as many runs "
    "can be compared."
)


def write_suite(comparisons: Sequence[Comparison], command: str, folder: Path) -> None:
    """Write compare.json, compare.md, compare.svg and compare.html."""
    page = page_of(TITLE, comparisons, lead=[_state(comparisons)], sections=_sections(comparisons))
    data, text = suite_json(comparisons, command), _markdown(comparisons, command)
    publish(folder, "compare", data, text, draw_suite(comparisons), page)


def suite_json(comparisons: Sequence[Comparison], command: str) -> dict[str, Any]:
    """As plain data; how scores came with the samples is left out."""
    plain = [one.to_json() for one in comparisons]
    for one in plain:
        one["rows"] = [{name: value for name, value in row.items() if name != "curves"} for row in one["rows"]]
    return {
        "command": command,
        "commit": commit_text([versions for one in comparisons for versions in one.versions]),
        "wins": [one.to_json() for one in records(comparisons)],
        "budgets": [one.to_json() for one in at_budgets(comparisons, BUDGETS)],
        "comparisons": plain,
    }


def take_table(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """What to take on every gap, under `TAKE_COLUMNS`."""
    return [_take_cells(one) for one in comparisons]


def _markdown(comparisons: Sequence[Comparison], command: str) -> str:
    made = (
        f"Made by `{command}`, {code_text(comparisons)}; figures in [compare.json](compare.json). {_state(comparisons)}"
    )
    parts = [f"# {TITLE}", made, *about(comparisons), f"![{TITLE}](compare.svg)"]
    parts += [section.to_markdown() for section in _sections(comparisons)]
    for one in comparisons:
        parts += [f"## {one.case.name}", one.advice.text, *tables(one)]
    return "\n\n".join(parts) + "\n"


def _state(comparisons: Sequence[Comparison]) -> str:
    """How much is there."""
    done = sum(len(row.found) for one in comparisons for row in one.rows)
    missing = sum(len(row.missing) for one in comparisons for row in one.rows)
    return f"{done:,} runs, {missing:,} missing." if missing else f"{done:,} runs."


def _sections(comparisons: Sequence[Comparison]) -> list[Section]:
    found = records(comparisons)
    sentences = tuple(one.sentence for one in found if one.compared or one.refused)
    budgets = at_budgets(comparisons, BUDGETS)
    return [
        Section("What to take", TAKE_COLUMNS, take_table(comparisons)),
        Section("By budget", budget_columns(BUDGETS), budget_table(budgets, BUDGETS), (BY_BUDGET,)),
        Section("Where each method wins", WIN_COLUMNS, [one.cells for one in found], (WINS,), sentences),
        *(_beside(one) for one in comparisons if (one.case.task, one.case.gap) in ORACLES_ON_PAGE),
    ]


def _take_cells(comparison: Comparison) -> tuple[str, ...]:
    idle, taken = comparison.unadapted, comparison.taken
    oracle_scores = comparison.known_oracle_scores.values()
    return (
        comparison.case.task,
        comparison.case.gap,
        score_text(idle) if idle else MISSING,
        f"{taken.label}{'' if comparison.is_whole else ' so far'}" if taken else MISSING,
        score_text(taken) if taken else MISSING,
        f"{max(oracle_scores):.3f}" if oracle_scores else MISSING,
    )


def _beside(comparison: Comparison) -> Section:
    """Ceilings, and what every method reaches, the best first."""
    oracle_scores = [(f"oracle, {metric}", score) for metric, score, _ in comparison.oracle_table()]
    scored = sorted((row for row in comparison.rows if row.scores), key=lambda row: -row.mean)
    others = [(row.label, "cannot" if row.problem else MISSING) for row in comparison.rows if not row.scores]
    rows = [*oracle_scores, *((row.label, score_text(row)) for row in scored), *others]
    known, text = comparison.known_oracle_scores, ()
    if {"even", "root"} <= known.keys() and scored:
        text = (
            f"Where not every wanted state can be reached, which errors count decides: the oracle is "
            f"{known['even']:.3f} with equal weights, and {known['root']:.3f} with weights on the unactuated root. "
            f"The best that is reached is {scored[0].mean:.3f}, by {scored[0].label}.",
        )
    return Section(f"The oracle beside what is reached: {comparison.case.name}", ("", "score "), rows, text)
