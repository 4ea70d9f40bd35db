import dataclasses

import numpy as np
import pytest

from isthmus.report.charts import coverage_chart
from isthmus.report.charts.coverage import Projection


def test_a_projection_finds_the_plane_of_the_data():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 1)) @ np.array([[1.0, 100.0, 0.0]]) + 1e-3 * rng.normal(size=(500, 3)) * [1, 1, 0]
    projection = Projection.of(points)
    assert projection.explained_variance[0] > 0.99
    assert projection(points).std(axis=0)[0] == pytest.approx(np.sqrt(2), rel=0.01)
    assert np.isfinite(projection(points)).all()


def test_collected_points_are_told_apart_by_round(run):
    chart = coverage_chart(run)
    assert [key.name for key in chart.legend] == [
        "round 1",
        "round 2",
        "expert in the source",
        "adapted on the target",
    ]
    many = coverage_chart(dataclasses.replace(run, rounds=run.rounds * 30))
    assert [key.name for key in many.legend][:2] == ["rounds 1–12", "rounds 13–24"]
    assert sum(len(trace["x"]) for trace in many.data[:5]) <= 3000 + 5
    assert many.note.startswith("One sample in")
