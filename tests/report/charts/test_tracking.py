import dataclasses

import numpy as np
import pytest

from isthmus.report.charts import tracking_chart


def test_tracking_errors_are_in_one_step_changes(run):
    chart = tracking_chart(run)
    assert "3 dimensions that stand still left out" in chart.note  # the target, and the height of the fingertip
    index = chart.layout["yaxis"]["ticktext"].index("velocity joint0")
    trace = run.traces["unadapted"]
    column = run.spec.observation_names.index("velocity joint0")
    change = np.diff(run.traces["expert"].observations[..., column], axis=1).std()
    wanted = np.sqrt(np.square(trace.tracking_errors[:, column]).mean()) / change
    assert chart.data[0]["x"][index] == pytest.approx(wanted, rel=1e-3)


def test_of_many_dimensions_the_largest_are_shown(widened):
    chart = tracking_chart(widened(120, 2))
    names = chart.layout["yaxis"]["ticktext"]
    assert len(names) == 40
    assert max(len(name) for name in names) <= 24
    assert "40 largest of 120" in chart.note
    assert chart.data[0]["x"] == sorted(chart.data[0]["x"], reverse=True)


def test_where_nothing_was_adapted_there_is_no_after(run):
    chart = tracking_chart(dataclasses.replace(run, rounds=()))
    assert [key.colour for key in chart.legend] == ["unadapted"]


def test_a_robot_that_stands_still_has_no_chart(run):
    still = {
        role: dataclasses.replace(trace, observations=np.ones_like(trace.observations))
        for role, trace in run.traces.items()
    }
    assert tracking_chart(dataclasses.replace(run, traces=still)) is None
