"""Figure 3: the score against the size of the gap, with and without adaptation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from isthmus.experiments.by_seed import MISSING, Quartiles, seeds_json
from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Axes
from isthmus.experiments.drawing import Figure as Drawing
from isthmus.experiments.grid import Json
from isthmus.experiments.paper.cells import Case, Tally, gap_of, make_case
from isthmus.experiments.paper.figure import Figure
from isthmus.experiments.paper.settings import FIGURE_3, OURS, Arm

COLUMNS = (
    *("robot", "gap", "arm", "method", "samples "),
    *("unadapted ", "quartiles ", "adapted ", "quartiles ", "worst seed ", "seeds ", "commit"),
)
ABOUT = (
    "The normalised score on the target against the size of the gap: gravity (for Reacher the tilt of its plane) and "
    "motor noise. 1 is the expert in its own simulator, 0 is doing nothing there. Figures are medians over seeds.",
    "The paper shows this figure as plots only: there are no numbers of it to stand beside ours.",
)
LABELS = {"tilt": "tilt of the plane, degrees", "gravity": "gravity, times the source's", "motor-noise": "motor noise"}
COLOURS = (ADAPTED, "#e69f00", "#56b4e9", "#cc79a7", "#009e73")
"""Of arms, in their order."""
SCORES = {"unadapted": "unadapted", "adapted": "normalised"}
"""What is shown, and its name in a cell."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes: a robot, a dial, and the gap at each value of the dial."""

    robot: str
    dial: str
    gaps: Mapping[float, str]


def figure_3(*, quick: bool = False, arms: Sequence[Arm] = OURS) -> Figure:
    """The figure, as the settings have it."""
    panels: list[Panel] = []
    cases: dict[tuple[str, str, str], Case] = {}
    for robot, dials in FIGURE_3.items():
        for name, dial in dials.items():
            panel = Panel(robot, name, {size: gap_of({name: size}) for size in (dial.quick if quick else dial.sizes)})
            panels.append(panel)
            for gap in panel.gaps.values():
                for arm in [one for one in arms if one != OURS[0]]:
                    case = make_case(robot, gap, arm, dial.choice, stop_at_score=None, quick=quick)
                    cases.setdefault((robot, gap, arm.name), case)  # no gap is the same case on every dial
    return Figure(
        name="figure-3",
        quick=quick,
        title="Figure 3: score against the size of the gap",
        about=ABOUT,
        cases=tuple(cases.values()),
        columns=COLUMNS,
        brief=("robot", "gap", "unadapted ", "adapted ", "worst seed ", "seeds "),
        row=_row,
        figures=_figures,
        draw=partial(_draw, panels),
    )


def _row(tally: Tally) -> tuple[str, ...]:
    config = tally.case.config
    named = (config.task, config.gap, tally.case.arm, config.method, f"{config.samples:,}")
    if not tally.found:
        return (*named, "", "", MISSING, "", "", tally.seeds, "")
    before, after = (Quartiles.of(tally.values(name)).text("{:.3f}") for name in SCORES.values())
    return (*named, *before, *after, f"{min(tally.values('normalised')):.3f}", tally.seeds, tally.commit)


def _figures(tally: Tally) -> Json:
    return tally.facts() | {figure: seeds_json(tally.values(name)) for figure, name in SCORES.items()}


def _draw(panels: Sequence[Panel], tallies: Sequence[Tally]) -> Drawing:
    """A column for each robot, a row for each dial."""
    robots = tuple(dict.fromkeys(panel.robot for panel in panels))
    drawing = Drawing(figsize=(3.0 * len(robots), 5.6), layout="constrained")
    grid = drawing.subplots(2, len(robots), sharey="col", squeeze=False)
    for column, robot in enumerate(robots):
        grid[0, column].set_title(robot, fontsize=11)
        for axes, panel in zip(grid[:, column], (one for one in panels if one.robot == robot), strict=True):
            _draw_panel(axes, panel, tallies)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    drawing.supylabel("score (expert in its simulator = 1)", fontsize=10)
    return drawing


def _draw_curve(axes: Axes, panel: Panel, there: Mapping[str, Tally], name: str, colour: str, label: str) -> None:
    """Median and quartiles of one score against the size of the gap."""
    sizes = [size for size, gap in panel.gaps.items() if gap in there]
    quartiles = [Quartiles.of(there[panel.gaps[size]].values(SCORES[name])) for size in sizes]
    low, median, high = ([getattr(one, part) for one in quartiles] for part in ("low", "median", "high"))
    axes.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(sizes, median, color=colour, marker="o", markersize=4, label=label)


def _draw_panel(axes: Axes, panel: Panel, tallies: Sequence[Tally]) -> None:
    mine = [tally for tally in tallies if tally.case.robot == panel.robot and tally.found]
    there = {tally.case.gap: tally for tally in mine}
    sizes = [size for size, gap in panel.gaps.items() if gap in there]
    axes.axhline(1, color=EXPERT, linewidth=1, linestyle="--", label="expert in its own simulator")
    _draw_curve(axes, panel, there, "unadapted", UNADAPTED, "unadapted, median and quartiles")
    arms = list(dict.fromkeys(tally.case.arm for tally in tallies))
    for arm, colour in zip(arms, COLOURS, strict=False):
        label = f"{'adapted' if len(arms) == 1 else arm}, median and quartiles"
        by_gap = {tally.case.gap: tally for tally in mine if tally.case.arm == arm}
        _draw_curve(axes, panel, by_gap, "adapted", colour, label)
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
