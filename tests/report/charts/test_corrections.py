import dataclasses

import numpy as np

from isthmus.report.charts import correction_charts


def test_corrections_are_what_the_actuators_accept(run):
    trace = dataclasses.replace(
        run.traces["adapted"],
        commands=np.full_like(run.traces["adapted"].commands, 9.0),
        source=np.full_like(run.traces["adapted"].source, 0.25),
    )
    chart = correction_charts(dataclasses.replace(run, traces=run.traces | {"adapted": trace}))[0]
    assert set(chart.data[2]["y"]) == {0.75}
    assert chart.note == "joint0: at a limit in 100 % of steps"
    assert len(chart.data) == 5


def test_limits_far_away_are_not_drawn(run):
    source = np.full_like(run.traces["adapted"].source, 0.25)
    trace = dataclasses.replace(run.traces["adapted"], source=source, commands=source + 0.01)
    chart = correction_charts(dataclasses.replace(run, traces=run.traces | {"adapted": trace}))[0]
    assert len(chart.data) == 3
