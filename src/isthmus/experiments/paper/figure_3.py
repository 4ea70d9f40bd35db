"""Figure 3: the score against the size of the gap, with and without adaptation."""

from functools import partial
from typing import Any

from isthmus.experiments.paper.case import Case, gap_of, make_case
from isthmus.experiments.paper.draw_3 import Panel, draw_figure_3
from isthmus.experiments.paper.figure import Figure
from isthmus.experiments.paper.settings import FIGURE_3, FIGURE_3_ARMS
from isthmus.experiments.paper.tally import MISSING, Quartiles, Tally

COLUMNS = (
    *("robot", "gap", "arm", "method", "samples "),
    *("unadapted ", "quartiles ", "adapted ", "quartiles ", "worst seed ", "seeds ", "commit"),
)
ABOUT = (
    "The normalised score on the target against the size of the gap: gravity (for Reacher the tilt of its plane) and "
    "motor noise. 1 is the expert in its own simulator, 0 is doing nothing there. Figures are medians over seeds.",
    "The paper shows this figure as plots only: there are no numbers of it to stand beside ours.",
)


def figure_3(*, quick: bool = False) -> Figure:
    """The figure, as the settings have it."""
    panels: list[Panel] = []
    cases: dict[tuple[str, str, str], Case] = {}
    for robot, dials in FIGURE_3.items():
        for name, dial in dials.items():
            panel = Panel(robot, name, {size: gap_of({name: size}) for size in (dial.quick if quick else dial.sizes)})
            panels.append(panel)
            for gap in panel.gaps.values():
                for arm in FIGURE_3_ARMS:
                    case = make_case(robot, gap, arm, dial.choice, stop_at_score=None, quick=quick)
                    cases.setdefault((robot, gap, arm), case)  # no gap is the same case on every dial
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
        draw=partial(draw_figure_3, panels),
    )


def _row(tally: Tally) -> tuple[str, ...]:
    case, config = tally.case, tally.case.config
    named = (case.robot, case.gap, case.arm, config.method, f"{config.samples:,}")
    if not tally.outcomes:
        return (*named, "", "", MISSING, "", "", tally.seeds, "")
    before, after = (Quartiles.of([getattr(one, name) for one in tally.outcomes]) for name in ("unadapted", "adapted"))
    worst = min(one.adapted for one in tally.outcomes)
    return (*named, *before.text("{:.3f}"), *after.text("{:.3f}"), f"{worst:.3f}", tally.seeds, tally.commit)


def _figures(tally: Tally) -> dict[str, Any]:
    scores = {name: [getattr(one, name) for one in tally.outcomes] for name in ("unadapted", "adapted")}
    return tally.facts() | {
        name: {"seeds": values} | (Quartiles.of(values).to_json() if values else {}) for name, values in scores.items()
    }
