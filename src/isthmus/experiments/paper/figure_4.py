"""Figure 4: samples on the target until the adapted policy holds 3/4 of the expert's score."""

from collections.abc import Sequence

import numpy as np

from isthmus.experiments.by_seed import MISSING, NOT_REACHED, Quartiles, seeds_json
from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Axes, Line2D
from isthmus.experiments.drawing import Figure as Drawing
from isthmus.experiments.grid import Json
from isthmus.experiments.paper.cells import Tally, gap_of, make_case
from isthmus.experiments.paper.count import FROM_SCRATCH, NOISES, Count
from isthmus.experiments.paper.figure import Figure
from isthmus.experiments.paper.settings import ARMS, FIGURE_4, OURS, QUICK_NOISES, SHARE, Arm

COLOURS: dict[str, str] = dict(zip(ARMS, (UNADAPTED, ADAPTED, "#e69f00", "#56b4e9", "#cc79a7"), strict=True))
WIDTH = 0.72
"""Of all arms of a noise together, which are one apart."""


def draw_figure_4(tallies: Sequence[Tally]) -> Drawing:
    """Samples until 3/4 of the expert by motor noise, a panel a robot."""
    robots = tuple(dict.fromkeys(tally.case.robot for tally in tallies))
    drawing = Drawing(figsize=(10.5, 4.0 * len(robots)), layout="constrained")
    for axes, robot in zip(drawing.subplots(len(robots), squeeze=False).flat, robots, strict=True):
        _draw(axes, [tally for tally in tallies if tally.case.robot == robot])
        axes.set_title(robot, loc="left", fontsize=11)
    drawing.legend(handles=_legend(tallies), loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    drawing.supylabel("thousands of samples until 3/4 of the expert", fontsize=10)
    return drawing


def _draw(axes: Axes, tallies: Sequence[Tally]) -> None:
    noises = list(dict.fromkeys(Count.of(tally).noise for tally in tallies))
    arms = list(dict.fromkeys(tally.case.arm for tally in tallies))
    for tally in tallies:
        count, place = Count.of(tally), (arms.index(tally.case.arm) + 0.5) / len(arms) - 0.5
        _draw_case(axes, noises.index(count.noise) + place * WIDTH, tally, count)
    axes.set_yscale("log")
    axes.set_ylim(*_limits(tallies))
    axes.yaxis.set_major_formatter(lambda samples, _place: f"{samples / 1000:g}")
    axes.set_xlim(-0.6, len(noises) - 0.4)
    axes.set_xticks(range(len(noises)), [_name(*noise) for noise in noises], fontsize=9)
    axes.grid(axis="y", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_case(axes: Axes, x: float, tally: Tally, count: Count) -> None:
    colour, budget = COLOURS[tally.case.arm], tally.case.config.samples
    reached = [samples for samples in count.samples if samples is not None]
    seeds = len(count.samples)
    around = x + 0.015 * (np.arange(seeds) - (seeds - 1) / 2)  # side by side
    axes.plot(around[: len(reached)], sorted(reached), "o", color=colour, markersize=3, alpha=0.5)
    axes.plot(around[len(reached) :], [budget] * count.not_reached, "^", color=colour, markersize=5, fillstyle="none")
    if count.median is not None:
        axes.plot((x - 0.12, x + 0.12), (count.median, count.median), color=colour, linewidth=2.5)
    ours = [arm.name for arm in OURS]
    beside = x + (0.16 if tally.case.arm == ours[-1] else -0.16)
    if tally.case.arm not in ours:
        pass  # the paper's number stands beside ours
    elif count.paper is not None:
        axes.plot(beside, count.paper, "D", color=colour, markersize=6, fillstyle="none", markeredgewidth=1.4)
    else:
        _say(axes, beside, 0.95, "N/A", colour)
    if not count.samples:
        _say(axes, x, 0.12, MISSING, EXPERT, rotation=90)


def _say(axes: Axes, x: float, height: float, text: str, colour: str, rotation: float = 0) -> None:
    """Words in the middle of a place, at a share of the height of the axes."""
    where = axes.get_xaxis_transform()
    axes.text(x, height, text, color=colour, fontsize=8, ha="center", va="center", rotation=rotation, transform=where)


def _limits(tallies: Sequence[Tally]) -> tuple[float, float]:
    """Room for all that is drawn."""
    counts = [Count.of(tally) for tally in tallies]
    drawn = [value for count in counts for value in (count.paper, *count.samples) if value is not None]
    drawn += [tally.case.config.samples for tally, count in zip(tallies, counts, strict=True) if count.not_reached]
    return 0.6 * min(drawn), 1.8 * max(drawn)


def _name(std: float, correlation: float) -> str:
    return f"noise {std:g}\ncorrelation {correlation:g}" if std else "no noise"


def _legend(tallies: Sequence[Tally]) -> list[Line2D]:
    def key(label: str, colour: str, marker: str, width: float = 0, size: float = 6) -> Line2D:
        style = "full" if width else "none"
        return Line2D(
            [], [], color=colour, marker=marker, linewidth=width, markersize=size, fillstyle=style, label=label
        )

    return [
        *(
            key(f"{_arm_text(arm)}: seeds and median", COLOURS[arm], "o", 2.5, 3)
            for arm in dict.fromkeys(tally.case.arm for tally in tallies)
        ),
        key("as the paper prints it", EXPERT, "D"),
        key(f"{NOT_REACHED} within the budget", EXPERT, "^"),
    ]


def _arm_text(arm: str) -> str:
    return arm if ARMS[arm].method else f"ours, {arm}"


COLUMNS = (
    *("robot", "arm", "noise ", "method", "paper ", "ours ", "quartiles ", "ours/paper "),
    *("not reached ", "budget ", "unadapted ", "seeds ", "commit"),
)
ABOUT = (
    "Thousands of samples on the target until 3/4 of the expert's score is held: the samples at the first of the first "
    "two evaluations in a row that are at 0.75 or above. A cell ends there, or when its budget is spent. Ours is the "
    "median over seeds; a seed that never gets there counts as larger than any other. Noise: its standard deviation "
    "and its correlation from step to step.",
    "Unadapted is the score of the expert on the target as it is. Where that is 0.75 or more, nothing would have to be "
    "adapted to hold 3/4; the samples are still counted for the adapted policy.",
    "Paper: the numbers of its figure 4 (Christiano et al. 2016, arXiv:1610.03518), N/A included. For reinforcement "
    "learning from scratch it gives "
    + " and ".join(f"about {thousands} ({robot})" for robot, thousands in FROM_SCRATCH.items())
    + ", in thousands too.",
)


def figure_4(*, quick: bool = False, arms: Sequence[Arm] = OURS) -> Figure:
    """The figure, as the settings have it."""
    cases = [
        make_case(
            robot,
            gap_of({"motor-noise": std, "noise-correlation": correlation}),
            arm,
            choices[std],
            stop_at_score=SHARE,
            quick=quick,
        )
        for robot, choices in FIGURE_4.items()
        for arm in arms
        for std, correlation in (QUICK_NOISES if quick else NOISES)
    ]
    return Figure(
        name="figure-4",
        quick=quick,
        title="Figure 4: samples until 3/4 of the expert",
        about=ABOUT,
        cases=tuple(cases),
        columns=COLUMNS,
        brief=("robot", "arm", "noise ", "paper ", "ours ", "ours/paper ", "seeds "),
        row=_row,
        figures=_figures,
        draw=draw_figure_4,
    )


def _row(tally: Tally) -> tuple[str, ...]:
    config, count = tally.case.config, Count.of(tally)
    noise = "{:g} / {:g}".format(*count.noise) if count.noise[0] else "none"
    paper = "N/A" if count.paper is None else f"{count.paper // 1000}"
    named, budget = (config.task, tally.case.arm, noise, config.method, paper), f"{config.samples / 1000:g}"
    if not tally.found:
        return (*named, MISSING, "", "", "", budget, "", tally.seeds, "")
    ratio = "" if count.ratio is None else f"{count.ratio:.3f}"
    failed = f"{count.not_reached} of {len(count.samples)}"
    unadapted = Quartiles.of(tally.values("unadapted")).text("{:.2f}")[0]
    ours = Quartiles.of(count.samples).text("{:.2f}", 1000, beyond=f">{budget}")
    return (*named, *ours, ratio, failed, budget, unadapted, tally.seeds, tally.commit)


def _figures(tally: Tally) -> Json:
    count, unadapted = Count.of(tally), tally.values("unadapted")
    return tally.facts() | {
        "noise": count.noise[0],
        "correlation": count.noise[1],
        "paper": count.paper,
        "samples": seeds_json(count.samples),
        "ratio": count.ratio,
        "not_reached": count.not_reached,
        "unadapted": seeds_json(unadapted),
        "unadapted_holds": sum(score >= SHARE for score in unadapted),
    }
