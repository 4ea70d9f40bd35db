"""Figure 3 as a picture: a column a robot, a row a kind of gap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isthmus.experiments.drawing import Axes
from isthmus.experiments.drawing import Figure as Drawing
from isthmus.experiments.paper.tally import MISSING, Quartiles, Tally
from isthmus.experiments.plot import ADAPTED, EXPERT, UNADAPTED

LABELS = {"tilt": "tilt of the plane, degrees", "gravity": "gravity, times the source's", "motor-noise": "motor noise"}


@dataclass(frozen=True)
class Panel:
    """One pair of axes: a robot, a dial, and the gap at each of its sizes."""

    robot: str
    dial: str
    gaps: Mapping[float, str]


def draw_figure_3(panels: Sequence[Panel], tallies: Sequence[Tally]) -> Drawing:
    """Medians and quartiles over seeds, of the unadapted and the adapted policy."""
    robots = tuple(dict.fromkeys(panel.robot for panel in panels))
    drawing = Drawing(figsize=(3.0 * len(robots), 5.6), layout="constrained")
    grid = drawing.subplots(2, len(robots), sharey="col", squeeze=False)
    for column, robot in enumerate(robots):
        grid[0, column].set_title(robot, fontsize=11)
        for axes, panel in zip(grid[:, column], (one for one in panels if one.robot == robot), strict=True):
            _draw(axes, panel, tallies)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    drawing.supylabel("score (expert in its simulator = 1)", fontsize=10)
    return drawing


def _draw(axes: Axes, panel: Panel, tallies: Sequence[Tally]) -> None:
    there = {tally.case.gap: tally for tally in tallies if tally.case.robot == panel.robot and tally.outcomes}
    sizes = [size for size, gap in panel.gaps.items() if gap in there]
    axes.axhline(1, color=EXPERT, linewidth=1, linestyle="--", label="expert in its own simulator")
    for name, colour in (("unadapted", UNADAPTED), ("adapted", ADAPTED)):
        quartiles = [Quartiles.of([getattr(one, name) for one in there[panel.gaps[size]].outcomes]) for size in sizes]
        low, median, high = ([getattr(one, part) for one in quartiles] for part in ("low", "median", "high"))
        axes.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(sizes, median, color=colour, marker="o", markersize=4, label=f"{name}, median and quartiles")
    absent = [size for size in panel.gaps if size not in sizes]
    axes.plot(absent, [0] * len(absent), "x", color=EXPERT, alpha=0.6, label=MISSING)
    if not sizes:
        axes.text(0.5, 0.5, MISSING, transform=axes.transAxes, ha="center", va="center", color=EXPERT)
    axes.set_xlabel(LABELS[panel.dial], fontsize=9)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -0.05), max(high, 1.1))
    axes.set_xticks(list(panel.gaps))
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
