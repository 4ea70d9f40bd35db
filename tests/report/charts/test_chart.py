import json

import numpy as np

from isthmus.report.charts import (
    correction_charts,
    coverage_chart,
    curve_chart,
    error_chart,
    loss_chart,
    tracking_chart,
)
from isthmus.report.charts.chart import text, values

SINGLE = (curve_chart, tracking_chart, coverage_chart, error_chart, loss_chart)


def coloured(value):
    """Names of colours replaced by a colour, as the page does."""
    if isinstance(value, str):
        return "#123456" if value.startswith("@") else value
    if isinstance(value, dict):
        return {key: coloured(one) for key, one in value.items()}
    return [coloured(one) for one in value] if isinstance(value, list) else value


def all_charts(run):
    return [*(make(run) for make in SINGLE), *correction_charts(run)]


def test_plotly_knows_everything_that_is_asked_of_it(run):
    import plotly.graph_objects as go

    for chart in all_charts(run):
        assert go.Figure(coloured(chart.figure)).data  # plotly refuses a property it does not know
        assert json.loads(json.dumps(chart.figure, allow_nan=False))


def test_every_chart_has_a_name_of_its_own_and_axis_titles(run):
    charts = all_charts(run)
    assert len({chart.name for chart in charts}) == len(charts)
    for chart in charts:
        assert chart.layout["xaxis"]["title"]["text"]
        assert chart.layout["yaxis"]["title"]["text"] or chart.name == "tracking"


def test_the_style_sheet_has_every_colour(run):
    from isthmus.report.page import TEMPLATES

    style = (TEMPLATES / "report.css").read_text()
    used = {part for part in json.dumps([chart.figure for chart in all_charts(run)]).split('"') if part[:1] == "@"}
    assert {"@expert", "@unadapted", "@adapted"} <= used
    for colour in used | {f"@round-{i}" for i in range(1, 6)} | {f"@series-{i}" for i in range(1, 5)} | {"@faint"}:
        assert style.count(f"--{colour[1:]}: ") == 2, f"{colour} is not in both schemes"


def test_a_role_looks_the_same_everywhere(run):
    looks = {}
    for chart in (curve_chart(run), coverage_chart(run)):
        for key in chart.legend:
            if key.colour in ("expert", "unadapted", "adapted"):
                looks.setdefault(key.colour, set()).add((key.kind, key.dashes))
    assert all(len(look) == 1 for look in looks.values())
    assert len(looks) == 3


def test_numbers_for_json_are_short_and_finite():
    assert values([1 / 3, np.nan, np.inf, 2.0]) == [0.33333, None, None, 2.0]
    assert text("x" * 50) == "x" * 23 + "…"
