"""How well the inverse model fits what it has not seen."""

from collections.abc import Sequence

import numpy as np

from isthmus.core import Float
from isthmus.report.charts.chart import SYMBOLS, Chart, Json, layout, text, values
from isthmus.report.run import Run

HEIGHT = 300
OVERFITTED = 2.0
"""Held-out loss, in units of the training loss, from which on data is lacking."""


def error_chart(run: Run) -> Chart | None:
    """Held-out action error of every actuator by round; None when no actions were predicted."""
    if not run.rounds or not run.rounds[-1].error:
        return None
    std = np.array([one.action_std for one in run.rounds])
    error = np.array([one.error for one in run.rounds]) / np.where(std > 0, std, 1.0)  # (rounds, act)
    samples = [one.samples for one in run.rounds]
    names = [text(name) for name in run.spec.action_names]
    few = len(names) <= len(SYMBOLS)
    data = [_line(index, name, samples, error[:, index], few=few) for index, name in enumerate(names)]
    if not few:
        data[0] |= {"name": f"each of {len(names)} actuators", "showlegend": True}
        data.append(_median(samples, np.median(error, axis=1)))
    return Chart(
        "fit-error",
        "Held-out action error by round, relative to the standard deviation of the actions",
        data,
        layout(
            "target samples",
            "error ÷ std",
            height=HEIGHT,
            xaxis={"rangemode": "tozero", "tickformat": ",d"},
            yaxis={"rangemode": "tozero"},
        ),
        reading=_error_reading(run.spec.action_names, error),
    )


def _error_reading(names: Sequence[str], error: Float) -> str:
    """How good the fit is, by its median and its worst actuator."""
    first, last, worst = float(np.median(error[0])), float(np.median(error[-1])), int(error[-1].argmax())
    text = f"Lower is better. Here the median actuator is at {last:.2g}"
    text += f" after the last round, and was at {first:.2g} after the first" if len(error) > 1 else ""
    return f"{text}; the worst is {names[worst]} at {error[-1, worst]:.2g}."


def _loss_reading(losses: Float, best: int) -> str:
    """Whether the fit generalises."""
    look = "Both lines should fall together."
    if not 0 <= best < len(losses) or not np.isfinite(losses[best]).all() or losses[best, 0] <= 0:
        return look
    ratio = losses[best, 1] / losses[best, 0]
    if ratio > OVERFITTED:
        times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
        return f"{look} Here the held-out loss is {times} times the training loss: more samples would help."
    return f"{look} Here they do: the held-out loss is {ratio:.1f} times the training loss."


def _line(index: int, name: str, samples: list[int], error: Float, *, few: bool) -> Json:
    colour, symbol = (f"@series-{index + 1}", SYMBOLS[index]) if few else ("@faint", "circle")
    return {
        "type": "scatter",
        "mode": "lines+markers" if few else "lines",
        "name": name,
        "x": samples,
        "y": values(error),
        "line": {"color": colour, "width": 2 if few else 1},
        "marker": {"color": colour, "size": 8, "symbol": symbol},
        "showlegend": few,
        "hovertemplate": f"{name}: %{{y:.3f}}<extra></extra>",
    }


def _median(samples: list[int], error: Float) -> Json:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "median",
        "x": samples,
        "y": values(error),
        "line": {"color": "@ink", "width": 2.5},
        "marker": {"color": "@ink", "size": 7},
        "hovertemplate": "median: %{y:.3f}<extra></extra>",
    }


def _ticks(losses: Float) -> Json:
    """Ticks of a logarithmic axis: at powers of ten, and at 2 and 5 times those when there are few of them."""
    positive = losses[losses > 0]
    if not positive.size:
        return {}
    low, high = np.floor(np.log10(positive.min())), np.ceil(np.log10(positive.max()))
    parts = (1,) if high - low > 3 else (1, 2, 5)
    ticks = [part * 10.0**power for power in range(int(low), int(high) + 1) for part in parts]
    return {"tickmode": "array", "tickvals": values(ticks), "ticktext": [f"{tick:g}" for tick in ticks]}


def loss_chart(run: Run) -> Chart | None:
    """Training and held-out loss of the last round, pass by pass; None when nothing was fitted."""
    if not run.rounds or not run.rounds[-1].losses:
        return None
    last = run.rounds[-1]
    losses = np.array(last.losses)  # (passes, 2)
    passes = list(range(len(losses)))
    data: list[Json] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": passes,
            "y": values(np.where(losses[:, column] > 0, losses[:, column], np.nan)),
            "line": {"color": colour, "width": 2, "dash": dash},
            "hovertemplate": f"pass %{{x}}<br>{name} %{{y:.3g}}<extra></extra>",
        }
        for column, (name, colour, dash) in enumerate((("training", "@muted", "dot"), ("held out", "@ink", "solid")))
    ]
    if 0 <= last.best < len(losses):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"kept (pass {last.best})",
                "x": [last.best],
                "y": values(losses[last.best, 1]),
                "marker": {"color": "@ink", "size": 10, "symbol": "circle-open", "line": {"width": 2}},
                "hovertemplate": "kept: %{y:.3g}<extra></extra>",
            }
        )
    return Chart(
        "fit-loss",
        f"Training and held-out loss of round {last.number + 1}",
        data,
        layout(
            f"pass over the data (round {last.number + 1})",
            "loss ÷ variance (log)",
            height=HEIGHT,
            yaxis={"type": "log", **_ticks(losses)},
        ),
        reading=_loss_reading(losses, last.best),
    )
