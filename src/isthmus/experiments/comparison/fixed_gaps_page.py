"""The suite as far as it is: what to take on each gap, where each method wins, and the oracles beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isthmus.experiments.by_seed import MISSING, commit_text
from isthmus.experiments.comparison.advice import score_text
from isthmus.experiments.comparison.budgets import WORSE, at_budgets, budget_columns, budget_table
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.row import Row
from isthmus.experiments.comparison.settings import BUDGETS, ORACLES_ON_PAGE
from isthmus.experiments.comparison.wins import WIN_COLUMNS, records
from isthmus.experiments.comparison.write import about, code_text, page_of, tables
from isthmus.experiments.drawing import Axes, Figure, Normalize, Rectangle, mpl
from isthmus.experiments.page import publish
from isthmus.experiments.tables import Section

COLOURS, TAKEN, PALE = "RdYlGn", "#0072b2", "#eeeeee"


def draw_fixed_gaps(comparisons: Sequence[Comparison]) -> Figure:
    """The score of every method on every gap; what to take is framed."""
    tasks = list(dict.fromkeys(one.case.task for one in comparisons))
    by_task = [[one for one in comparisons if one.case.task == task] for task in tasks]
    heights = [len(some[0].rows) + 3 for some in by_task]
    drawing = Figure(figsize=(3.0 + 1.15 * max(map(len, by_task)), 0.27 * sum(heights) + 0.6), layout="constrained")
    panels = drawing.subplots(len(tasks), squeeze=False, height_ratios=heights)[:, 0]
    for axes, task, some in zip(panels, tasks, by_task, strict=True):
        _draw(axes, some, max(map(len, by_task)))
        axes.set_title(task, loc="left", fontsize=11)
    drawing.supxlabel("score (expert in its simulator = 1); what to take is framed", fontsize=9)
    return drawing


def _draw(axes: Axes, comparisons: Sequence[Comparison], width: int) -> None:
    rows = comparisons[0].rows
    for x, comparison in enumerate(comparisons):
        for y, row in enumerate(comparison.rows):
            _cell(axes, x, y, row, taken=comparison.advice.take == row.label)
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [_name(row) for row in rows], fontsize=8)
    labels = [one.case.gap.replace(",", ",\n") for one in comparisons]
    axes.set_xticks(range(len(comparisons)), labels, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _cell(axes: Axes, x: int, y: int, row: Row, *, taken: bool) -> None:
    shade = _shade(row.mean) if row.scores else PALE
    axes.add_patch(Rectangle((x - 0.48, y - 0.45), 0.96, 0.9, facecolor=shade, edgecolor="none"))
    if taken:
        axes.add_patch(Rectangle((x - 0.46, y - 0.42), 0.92, 0.84, fill=False, edgecolor=TAKEN, linewidth=2))
    text = f"{row.mean:z.2f}" if row.scores else "cannot" if row.problem else MISSING
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color="#000000" if row.scores else "#777777")


def _shade(score: float) -> tuple[float, float, float, float]:
    return mpl.colormaps[COLOURS](Normalize(0.0, 1.1, clip=True)(score), alpha=0.75)


def _name(row: Row) -> str:
    return f"{row.label} (sees the reward)" if row.entry.kind.sees_reward else row.label


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


def write_fixed_gaps(comparisons: Sequence[Comparison], command: str, folder: Path) -> None:
    """Write compare.json, compare.md, compare.svg and compare.html."""
    page = page_of(TITLE, comparisons, lead=[_state(comparisons)], sections=_sections(comparisons))
    data, text = fixed_gaps_json(comparisons, command), _markdown(comparisons, command)
    publish(folder, "compare", data, text, draw_fixed_gaps(comparisons), page)


def fixed_gaps_json(comparisons: Sequence[Comparison], command: str) -> dict[str, Any]:
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
    """The oracle's scores, and what every method reaches, the best first."""
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
