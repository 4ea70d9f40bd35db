import dataclasses

import pytest

from isthmus.report.charts import curve_chart


def test_the_curve_begins_unadapted_and_ends_with_the_result(run):
    curve = curve_chart(run).data[-1]
    assert curve["x"] == [0, 50, 100]
    assert curve["y"][0] == pytest.approx(run.result.normalised_unadapted, rel=1e-4)
    assert curve["y"][-1] == pytest.approx(run.result.normalised_adapted, rel=1e-4)


def test_there_is_no_curve_without_rounds(run):
    assert curve_chart(dataclasses.replace(run, rounds=())) is None
