"""Figure 4: samples on the target until the adapted policy holds 3/4 of the expert's score."""

from isthmus.experiments.by_seed import MISSING, Quartiles, seeds_json
from isthmus.experiments.grid import Json
from isthmus.experiments.paper.cells import Tally, gap_of, make_case
from isthmus.experiments.paper.count import Count
from isthmus.experiments.paper.draw_4 import draw_figure_4
from isthmus.experiments.paper.figure import Figure
from isthmus.experiments.paper.paper import FROM_SCRATCH, NOISES
from isthmus.experiments.paper.settings import FIGURE_4, FIGURE_4_ARMS, QUICK_NOISES, SHARE

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


def figure_4(*, quick: bool = False) -> Figure:
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
        for arm in FIGURE_4_ARMS
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
