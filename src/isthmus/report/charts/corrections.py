"""What adaptation adds to the source's actions, over time."""

import numpy as np

from isthmus.core import Bool, Float, Int
from isthmus.report.charts.chart import Chart, Json, layout, percent, values
from isthmus.report.run import Run

BAND = (10.0, 50.0, 90.0)
"""Percentiles over the traced episodes."""
NEAR = 0.5
"""Limits are drawn where corrections take up more than this share of the room they leave."""
UNCHANGED = 0.005
"""Share of an actuator's range below which a correction is called none."""
OFTEN = 0.1
"""Share of the steps at a limit from which on it is in the way."""
POINTS = 300
"""Most moments drawn."""


def correction_reading(run: Run) -> str:
    """Which actuator is corrected the most, and whether limits stand in the way."""
    trace, spec = run.traces["adapted"], run.spec
    steps: Int = np.arange(len(trace.commands[0]), dtype=np.int64)
    there: Bool = steps < trace.lengths[:, None]  # (n, T)
    command, source = spec.clip(trace.commands)[there], spec.clip(trace.source)[there]  # (m, act)
    size = np.median(np.abs(command - source), axis=0) / (spec.action_high - spec.action_low)
    limited = ((command <= spec.action_low) | (command >= spec.action_high)).mean(axis=0)
    most, stuck = int(size.argmax()), int(limited.argmax())
    look = "A line at zero is the source’s own action; far from zero, the target needs another one."
    if size[most] < UNCHANGED:
        return f"{look} Here actions are hardly changed: by less than {100 * UNCHANGED:g} % of an actuator’s range."
    by = f"by {percent(size[most])} of its range at the median"
    text = f"{look} Here {spec.action_names[most]} is corrected the most, {by}"
    if limited[stuck] < OFTEN:
        return f"{text}; there is room left below the actuators’ limits."
    at = f"{spec.action_names[stuck]} is at its limit in {percent(limited[stuck])} of the steps"
    return f"{text}; {at}, and cannot be corrected further there."


def correction_charts(run: Run) -> list[Chart]:
    """Command minus the source's action, as the actuators accept both: one chart an actuator."""
    trace, spec = run.traces["adapted"], run.spec
    if trace.source.shape != trace.commands.shape:
        return []
    steps = int(trace.lengths.max())
    command, source = spec.clip(trace.commands)[:, :steps], spec.clip(trace.source)[:, :steps]
    over = np.arange(steps) >= trace.lengths[:, None]  # (n, T)
    stride = -(-steps // POINTS)
    low, middle, high = (part[::stride] for part in _percentiles(command - source, over))  # (T, act) each
    usual = _percentiles(source, over)[1][::stride]
    at_limit = (command <= spec.action_low) | (command >= spec.action_high)
    limited = np.where(over[..., None], np.nan, at_limit)
    time: Float = np.arange(0.0, steps, stride) * spec.control_period
    return [
        _chart(
            index,
            spec.action_names[index],
            time,
            (low[:, index], middle[:, index], high[:, index]),
            (spec.action_low[index] - usual[:, index], spec.action_high[index] - usual[:, index]),
            float(np.nanmean(limited[..., index])),
        )
        for index in range(spec.action_size)
    ]


def _percentiles(numbers: Float, over: np.ndarray) -> tuple[Float, ...]:
    """Percentiles (T, act) of numbers (n, T, act) over the episodes that are not `over` (n, T) yet."""
    return tuple(np.nanpercentile(np.where(over[..., None], np.nan, numbers), BAND, axis=0))


def _chart(
    index: int, name: str, time: Float, band: tuple[Float, Float, Float], room: tuple[Float, Float], limited: float
) -> Chart:
    low, middle, high = band
    seconds = values(time)
    nothing = {"mode": "lines", "type": "scatter", "x": seconds, "hoverinfo": "skip", "showlegend": False}
    data: list[Json] = [
        nothing | {"y": values(low), "line": {"width": 0}},
        nothing | {"y": values(high), "line": {"width": 0}, "fill": "tonexty", "fillcolor": "@adapted-soft"},
        {
            "type": "scatter",
            "mode": "lines",
            "x": seconds,
            "y": values(middle),
            "line": {"color": "@adapted", "width": 2},
            "showlegend": False,
            "hovertemplate": "%{x} s: %{y:.3f}<extra></extra>",
        },
    ]
    if limited or (high > NEAR * room[1]).any() or (low < NEAR * room[0]).any():
        dotted = {"color": "@muted", "width": 1, "dash": "dot"}
        data += [nothing | {"y": values(limit), "line": dotted} for limit in room]
    share = f"at a limit in {100 * limited:.0f} % of steps" if limited else "never at a limit"
    return Chart(
        f"correction-{index}",
        f"Correction of actuator {name} over time",
        data,
        layout("time (s)", "correction (actuator units)", height=290),
        f"{name}: {share}",
    )
