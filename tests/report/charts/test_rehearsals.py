import dataclasses

import pytest

from isthmus.adapt import PredictedScore
from isthmus.report.charts import curve_chart, rehearsal_chart


def rehearsed(run, chosen, predicted, **foreseen):
    *before, last = run.rounds
    candidates = {name.replace("_", " "): PredictedScore(score, 0.05, 16) for name, score in foreseen.items()}
    last = dataclasses.replace(last, chosen=chosen, predicted=predicted, predicted_scores=candidates)
    return dataclasses.replace(run, rounds=(*before, last))


def drawn(chart):
    """Where each kind of mark is, by candidate."""
    names = chart.layout["yaxis"]["ticktext"]
    return {one["name"]: {names[y]: x for x, y in zip(one["x"], one["y"], strict=True)} for one in chart.data}


def test_a_method_that_rehearses_nothing_has_no_chart(run):
    assert rehearsal_chart(run) is None
    assert rehearsal_chart(dataclasses.replace(run, rounds=())) is None


def test_what_was_foreseen_stands_beside_what_happened(run):
    chart = rehearsal_chart(rehearsed(run, "explained", 0.9, unadapted=0.5, explained=0.9, identified=0.7))
    happened = {
        "unadapted": pytest.approx(run.result.normalised_unadapted, rel=1e-4),
        "explained": pytest.approx(run.result.normalised_adapted, rel=1e-4),
    }
    assert drawn(chart) == {
        "predicted in rehearsal": {"identified": 0.7},
        "predicted, as it is": {"unadapted": 0.5},
        "predicted, taken": {"explained": 0.9},
        "on the target": happened,
    }
    assert chart.data[0]["error_x"]["array"] == [0.1]


def test_what_stays_as_it_was_is_called_by_its_name(run):
    chart = rehearsal_chart(rehearsed(run, "identified", 0.8, unadapted=0.5, explained=0.6, as_before=0.8))
    assert drawn(chart)["predicted, taken"] == {"identified (as before)": 0.8}
    chart = rehearsal_chart(rehearsed(run, "explained", 0.6, unadapted=0.5, explained=0.6, as_before=0.4))
    assert drawn(chart)["predicted in rehearsal"] == {"as before": 0.4}


def test_a_policy_that_stays_as_it_is_is_drawn_once(run):
    chart = rehearsal_chart(rehearsed(run, "unadapted", 0.99, unadapted=0.99))
    assert drawn(chart)["predicted, taken"] == {"unadapted": 0.99}
    assert "predicted, as it is" not in drawn(chart)


def test_the_curve_has_what_was_foreseen(run):
    curve = curve_chart(rehearsed(run, "explained", 0.9, unadapted=0.5, explained=0.9))
    assert (curve.data[-1]["x"], curve.data[-1]["y"]) == ([run.rounds[-1].samples], [0.9])
    assert len(curve_chart(run).data) == len(curve.data) - 1
