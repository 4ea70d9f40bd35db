"""The learning curve: score against target samples."""

import math
from collections.abc import Sequence

import numpy as np

from isthmus.core import Float
from isthmus.report.charts.chart import LINE_STYLES, Chart, Json, layout, values
from isthmus.report.run import Run

SURE = 2.0
"""Standard errors of a difference from which on it is called one."""
MOST = 0.9
"""Share of a gain that is called most of it."""


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
                "name": "predicted in rehearsal",
                "x": [after for after, _ in forecast],
                "y": values([predicted for _, predicted in forecast]),
                "cliponaxis": False,
                "marker": {"color": "@series-3", "size": 11, "symbol": "circle-open", "line": {"width": 2}},
                "hovertemplate": "predicted after %{x} samples: %{y:.3f}<extra></extra>",
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
        reading=_reading(samples, scores, error),
    )


def still_rising(run: Run) -> bool:
    """Whether the last scored round improved on the one before by more than noise."""
    scored = [one for one in run.rounds if one.evaluated]
    if len(scored) < 2:
        return False
    result, (before, last) = run.result, scored[-2:]
    error = np.array([before.std, last.std]) / (result.expert - result.zero) / np.sqrt(result.evaluation_episodes)
    return last.normalised - before.normalised > SURE * math.hypot(*error)


def _reading(samples: Sequence[int], scores: Sequence[float], error: Float) -> str:
    """How the score rose, and whether it still does."""
    look = "The further the solid line rises above the dotted one towards the dashed one, the more is recovered."
    gain, noise = scores[-1] - scores[0], SURE * math.hypot(error[0], error[-1])
    if gain < -noise:
        return f"{look} Here it ends below the dotted line: the policy does better without adaptation."
    if gain <= noise:
        return f"{look} Here it ends where it began: adaptation changes the score by no more than noise."
    if len(scores) < 3:
        return f"{look} Here one round was scored: {scores[-1]:.2f} after {samples[-1]:,} samples."
    enough = next(after for after, score in zip(samples, scores, strict=True) if score - scores[0] >= MOST * gain)
    text = f"{look} Here most of the gain is there after {enough:,} of {samples[-1]:,} samples"
    late = scores[-1] - scores[-2]
    if late > SURE * math.hypot(error[-2], error[-1]):
        return f"{text}, and the last round still added {late:.2f}: more samples may help."
    return f"{text}, and the last round changed it by no more than noise: more samples would help little."


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
