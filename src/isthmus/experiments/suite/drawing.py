"""The suite in a drawing: what is recovered by robot, family and method, and predictions beside what was achieved."""

from collections.abc import Sequence

from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Axes, Figure, mpl
from isthmus.experiments.suite.families import FAMILIES
from isthmus.experiments.suite.outcomes import Outcomes, Recovered

LEFT, RIGHT = -0.6, 1.25
"""Shares beyond these are drawn at the edge."""
COLOURS = (ADAPTED, UNADAPTED, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000")


def draw_suite(outcomes: Outcomes) -> Figure:
    """A panel a robot with a row for each family, and one panel of predictions."""
    names = [one.name for one in FAMILIES if one.name in outcomes.families]
    panels = len(outcomes.tasks) + 1
    drawing = Figure(figsize=(2.2 + 2.6 * panels, 1.4 + 0.3 * max(len(names), 6)), layout="constrained")
    *robots, last = drawing.subplots(1, panels, squeeze=False)[0]
    for axes, task in zip(robots, outcomes.tasks, strict=True):
        _draw_robot(axes, outcomes, task, names)
    for axes in robots[1:]:
        axes.tick_params(labelleft=False)
    _draw_predictions(last, outcomes)
    handles, labels = robots[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return drawing


def _draw_robot(axes: Axes, outcomes: Outcomes, task: str, names: Sequence[str]) -> None:
    methods = outcomes.methods
    for place, edge in ((0.0, UNADAPTED), (1.0, EXPERT)):
        axes.axvline(place, color=edge, linewidth=0.9, linestyle="--")
    for number, method in enumerate(methods):
        colour = COLOURS[number % len(COLOURS)]
        offset = 0.6 * ((number + 0.5) / len(methods) - 0.5)
        points = [
            (found.median, row + offset)
            for row, name in enumerate(names)
            if (found := Recovered.of(outcomes.of(method, task=task, family=name), outcomes.budget)).median is not None
        ]
        across = [min(max(share, LEFT), RIGHT) for share, _ in points]
        axes.plot(across, [at for _, at in points], "o", color=colour, markersize=4.5, label=method)
    axes.set_title(task, loc="left", fontsize=10)
    axes.set_xlim(LEFT - 0.05, RIGHT + 0.05)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), list(names), fontsize=8)
    axes.set_xlabel(f"share of the loss recovered\n{outcomes.budget:,} samples", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_predictions(axes: Axes, outcomes: Outcomes) -> None:
    axes.plot((0, 1.1), (0, 1.1), color=EXPERT, linewidth=0.9, linestyle="--")
    shades = mpl.colormaps["viridis"]
    for number, task in enumerate(outcomes.tasks):
        pairs = [(one.predicted, one.final) for one in outcomes.every if one.task == task and one.predicted is not None]
        colour = shades(number / max(len(outcomes.tasks), 1))
        axes.plot([pair[0] for pair in pairs], [pair[1] for pair in pairs], "o", color=colour, markersize=4, label=task)
    axes.set_title("predicted against achieved", loc="left", fontsize=10)
    axes.set_xlabel("predicted in rehearsal", fontsize=8)
    axes.set_ylabel("achieved on the target", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.legend(frameon=False, fontsize=7, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
