"""What was predicted for every candidate in rehearsal, beside what came of it on the target."""

from isthmus.adapt.auto.selection import PREVIOUS, UNADAPTED
from isthmus.report.charts.chart import Chart, Json, layout, text, values
from isthmus.report.run import Round, Run

BAR = 2.0
"""Standard errors that a bar has on either side."""
CLOSE = 0.03
"""Differences from a predicted score that are too small to matter."""


def rehearsal_chart(run: Run) -> Chart | None:
    """The candidates of the last round; None for a method that rehearses nothing."""
    if not run.rounds or not run.rounds[-1].predicted_scores:
        return None
    last = run.rounds[-1]
    names = list(last.predicted_scores)
    taken = _taken(last)
    labels = [f"{last.chosen} ({name})" if name == taken == PREVIOUS else name for name in names]
    happened = {UNADAPTED: run.result.normalised_unadapted, taken: run.result.normalised_adapted}
    data: list[Json] = [
        _points("predicted in rehearsal", "series-3", last, [name for name in names if name not in happened]),
        _points("predicted, as it is", "unadapted", last, [UNADAPTED] if taken != UNADAPTED else []),
        _points("predicted, taken", "adapted", last, [taken]),
        {
            "type": "scatter",
            "mode": "markers",
            "name": "on the target",
            "x": values(list(happened.values())),
            "y": [names.index(name) for name in happened],
            "marker": {"color": "@ink", "size": 13, "symbol": "circle-open", "line": {"width": 2}},
            "hovertemplate": "on the target: %{x:.3f}<extra></extra>",
        },
    ]
    return Chart(
        "rehearsals",
        f"Predicted scores of {len(names)} candidates, of which {last.chosen} was taken",
        [one for one in data if one["x"]],
        layout(
            "normalised score",
            "",
            height=100 + 36 * len(names),
            yaxis={
                "autorange": "reversed",
                "tickmode": "array",
                "tickvals": list(range(len(names))),
                "ticktext": [text(label, 34) for label in labels],
                "ticks": "",
                "zeroline": False,
            },
        ),
        reading=_reading(last, taken, run.result.normalised_adapted),
    )


def _reading(last: Round, taken: str, happened: float) -> str:
    """What was taken, and how well its score was predicted."""
    chosen = last.predicted_scores[taken]
    others = [one.score for name, one in last.predicted_scores.items() if name != taken]
    ahead = chosen.score - max(others, default=chosen.score)
    lead = f", {ahead:.2f} ahead of the next" if ahead > CLOSE else ", about level with another" if others else ""
    error = happened - chosen.score
    match = (
        "as predicted"
        if abs(error) <= max(BAR * chosen.error, CLOSE)
        else f"{abs(error):.2f} {'better' if error > 0 else 'worse'} than predicted"
    )
    look = "Candidates further to the right are better; a ring near its dot means that the prediction was right."
    return f"{look} Here “{last.chosen}” was taken with {chosen.score:.2f}{lead}, and came to {happened:.2f}: {match}."


def _taken(last: Round) -> str:
    """The candidate that was taken: by its name, or as what it was before."""
    as_before = last.predicted_scores.get(PREVIOUS)
    return PREVIOUS if as_before and as_before.score == last.predicted else last.chosen


def _points(label: str, colour: str, last: Round, names: list[str]) -> Json:
    everybody = list(last.predicted_scores)
    found = [last.predicted_scores[name] for name in names]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": label,
        "x": values([one.score for one in found]),
        "y": [everybody.index(name) for name in names],
        "customdata": [one.episodes for one in found],
        "error_x": {
            "type": "data",
            "array": values([BAR * one.error for one in found]),
            "color": f"@{colour}",
            "thickness": 1.5,
            "width": 4,
        },
        "marker": {"color": f"@{colour}", "size": 9},
        "hovertemplate": "%{x:.3f} over %{customdata} episodes<extra></extra>",
    }
