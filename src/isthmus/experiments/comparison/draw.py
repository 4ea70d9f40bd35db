"""Many comparisons as a picture: a panel a robot, a row a method, a column a gap."""

from collections.abc import Sequence

from isthmus.experiments.by_seed import MISSING
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.row import Row
from isthmus.experiments.drawing import Axes, Figure, Normalize, Rectangle, mpl

COLOURS, TAKEN, PALE = "RdYlGn", "#0072b2", "#eeeeee"


def draw_suite(comparisons: Sequence[Comparison]) -> Figure:
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
