"""How far the robot ends up from where the simulator would be, one step on, before and after adaptation."""

from collections.abc import Sequence

import numpy as np

from isthmus.core import Bool, Float
from isthmus.evaluate import Trace
from isthmus.report.charts.chart import Chart, Json, layout, text, values
from isthmus.report.run import Run, episodes

READABLE, LARGEST = 50, 40
"""Up to so many dimensions are all shown; of more, only so many of the largest."""
LITTLE = 0.05
"""Share of the error by which it has to change."""
STILL = 1e-6
"""A dimension that changes in a step by less than this share of its standard deviation stands still."""


def tracking_chart(run: Run) -> Chart | None:
    """Tracking error of every dimension to be reached; None when none of them ever changes."""
    targets = run.spec.targets
    change, moves = _changes(run)
    marked = targets[moves[targets]]
    still = len(targets) - len(marked)
    if not len(marked):
        return None
    before, after = (_rms(run.traces[role])[marked] / change[marked] for role in ("unadapted", "adapted"))
    reading = _reading(
        [run.spec.observation_names[int(index)] for index in marked], before, after if run.rounds else None
    )
    notes: list[str] = []
    if len(marked) > READABLE:
        largest = np.argsort(-np.maximum(before, after), kind="stable")[:LARGEST]
        notes.append(f"The {LARGEST} largest of {len(marked)} dimensions.")
        marked, before, after = marked[largest], before[largest], after[largest]
    if still:
        notes.append(f"{still} dimension{' that stands' if still == 1 else 's that stand'} still left out.")
    names = [text(run.spec.observation_names[int(index)]) for index in marked]
    data = [_bars("before: unadapted", "unadapted", names, before)]
    if run.rounds:
        data.append(_bars("after: adapted", "adapted", names, after))
    return Chart(
        "tracking",
        f"Tracking error of {len(names)} observation dimensions, before and after adaptation",
        data,
        layout(
            "error ÷ one-step change",
            "",
            height=80 + 30 * len(names),
            barmode="group",
            bargap=0.3,
            bargroupgap=0.05,
            xaxis={"rangemode": "tozero"},
            # Positions, not names: names need not differ once they are shortened.
            yaxis={
                "autorange": "reversed",
                "tickmode": "array",
                "tickvals": list(range(len(names))),
                "ticktext": names,
                "ticks": "",
                "showgrid": False,
                "zeroline": False,
            },
        ),
        " ".join(notes),
        reading,
    )


def _reading(names: Sequence[str], before: Float, after: Float | None) -> str:
    """How much of the error adaptation removes, and where most of it is left."""
    look = "Short bars mean that the robot moves as the simulator expects; 1 is an error as large as a usual step."
    latest = before if after is None else after
    worst = f"{names[int(latest.argmax())]} ({latest.max():.2g})"
    if after is None:
        return f"{look} Here the median is {np.median(before):.2g}, and the largest error is in {worst}."
    old, new = float(np.median(before)), float(np.median(after))
    change = f"reduces the median error from {old:.2g} to {new:.2g}"
    if abs(new - old) < LITTLE * old:
        change = f"leaves the median error at {new:.2g}"
    elif new > old:
        change = f"raises the median error from {old:.2g} to {new:.2g}"
    return f"{look} Here adaptation {change}; the largest error left is in {worst}."


def _changes(run: Run) -> tuple[Float, Bool]:
    """Standard deviation of each dimension's one-step change for the expert in the source, and which move at all."""
    steps = np.concatenate([np.diff(one, axis=0) for one in episodes(run.traces["expert"])])
    seen = np.concatenate([one for trace in run.traces.values() for one in episodes(trace)])
    change = steps.std(axis=0)
    return change, (change > 0) & (change > STILL * seen.std(axis=0))


def _rms(trace: Trace) -> Float:
    return np.sqrt(np.square(trace.tracking_errors).mean(axis=0))


def _bars(label: str, role: str, names: list[str], errors: Float) -> Json:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label,
        "x": values(errors),
        "y": list(range(len(names))),
        "customdata": names,
        "marker": {"color": f"@{role}"},
        "hovertemplate": f"%{{customdata}}<br>{role}: %{{x:.3f}}<extra></extra>",
    }
