"""The figures of a comparison follow from its cells."""

import pytest

from isthmus.core import Problem
from isthmus.experiments.transports import Plan, plot_transports, rows, summary


def cell(unadapted, adapted):
    return {"unadapted": unadapted, "adapted": adapted, "facts": {}, "commit": "abc", "text": ""}


FOUND = {
    ("ros1", 0): cell([0.06, 0.08], [0.01, 0.02]),
    ("ros2", 0): cell([0.07, 0.09], [0.01, 0.01]),
    ("ros1", 1): cell([0.05, 0.05], [0.02, 0.02]),
    ("ros2", 1): cell([0.05, 0.06], [0.01, 0.05]),
}


def test_seeds_are_compared_in_pairs(tmp_path):
    data = summary(Plan(seeds=2, trials=2), FOUND)
    assert data["transports"]["ros1"]["unadapted"]["seeds"] == pytest.approx([0.07, 0.05])
    assert data["ros2_minus_ros1"]["unadapted"]["seeds"] == pytest.approx([0.01, 0.005])
    assert data["ros2_minus_ros1"]["unadapted"]["mean"] == pytest.approx(0.0075)
    assert data["ros2_minus_ros1"]["unadapted"]["standard_error"] == pytest.approx(0.0025)
    assert data["ros2_minus_ros1"]["adapted"]["mean"] == pytest.approx(0.0025)
    assert data["commit"] == ["abc"]
    lines = rows(data)
    assert [line[0] for line in lines] == ["ros1", "ros2", "difference"]
    assert lines[0][1] == "6.00 % +/- 1.41"
    plot_transports(data, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000


@pytest.mark.parametrize("plan", [{"seeds": 0}, {"trials": 0}, {"samples": 10}, {"speed": 0.0}])
def test_a_plan_without_anything_to_try_is_refused(plan):
    with pytest.raises(Problem, match="a comparison needs"):
        Plan(**plan)
