"""The learning curve: score against target samples."""

import numpy as np

from isthmus.report.charts.chart import LINE_STYLES, Chart, Json, layout, values
from isthmus.report.run import Run


def curve_chart(run: Run) -> Chart | None:
    """Normalised score after every round that was scored; None when no samples were taken."""
    if not run.rounds:
        return None
    result, period = run.result, run.spec.control_period
    scored = [one for one in run.rounds if one.evaluated]
    samples = [0, *(one.samples for one in scored)]
    scores = [result.normalised_unadapted, *(one.normalised for one in scored)]
    std = np.array([result.std["unadapted"], *(one.std for one in scored)])
    error = std / (result.expert - result.zero) / np.sqrt(result.evaluation_episodes)
    ends = [0, samples[-1]]
    unadapted = result.normalised_unadapted
    data: list[Json] = [
        _level("expert in the source", "expert", ends, 1.0),
        _level("unadapted on the target", "unadapted", ends, unadapted),
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "adapted on the target",
            "x": samples,
            "y": values(scores),
            "customdata": values(np.array(samples) * period),
            "error_y": {"type": "data", "array": values(error), "color": "@adapted", "thickness": 1, "width": 3},
            "line": {"color": "@adapted", "width": 2.5},
            "cliponaxis": False,
            "marker": {"color": "@adapted", "size": 7},
            "hovertemplate": "%{x} samples (%{customdata} s)<br>score %{y:.3f}<extra></extra>",
        },
    ]
    forecast = [(one.samples, one.predicted) for one in run.rounds if one.predicted is not None]
    if forecast:
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "foreseen in rehearsal",
                "x": [after for after, _ in forecast],
                "y": values([predicted for _, predicted in forecast]),
                "cliponaxis": False,
                "marker": {"color": "@series-3", "size": 11, "symbol": "circle-open", "line": {"width": 2}},
                "hovertemplate": "foreseen after %{x} samples: %{y:.3f}<extra></extra>",
            }
        )
    return Chart(
        "curve",
        f"Learning curve: the normalised score goes from {unadapted:.2f} to {scores[-1]:.2f} "
        f"in {samples[-1]} target samples",
        data,
        layout(
            f"target samples ({1000 * period:.3g} ms each)",
            "normalised score",
            xaxis={"rangemode": "tozero", "zeroline": False, "tickformat": ",d"},
        ),
    )


def _level(name: str, role: str, x: list[int], y: float) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": values([y, y]),
        "line": {"color": f"@{role}", "width": 2, "dash": LINE_STYLES[role]},
        "hovertemplate": f"{name}: %{{y:.3f}}<extra></extra>",
    }
