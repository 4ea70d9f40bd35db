import dataclasses

from isthmus.report.charts import correction_charts, error_chart, loss_chart


def test_many_actuators_share_one_colour(widened):
    wide = widened(5, 17)
    chart = error_chart(wide)
    assert [key.name for key in chart.legend] == ["each of 17 actuators", "median"]
    assert len(correction_charts(wide)) == 17


def test_names_are_not_taken_for_markup(widened):
    chart = error_chart(widened(5, 2))
    assert chart.data[0]["name"] == "&lt;b&gt;0&lt;/b&gt;"
    assert chart.legend[0].name == "<b>0</b>"


def test_losses_that_are_not_there_leave_gaps(run):
    last = dataclasses.replace(run.rounds[-1], losses=((float("nan"), 0.5), (0.0, 0.25)), best=1)
    training, held_out, kept = loss_chart(dataclasses.replace(run, rounds=(last,))).data
    assert training["y"] == [None, None]
    assert held_out["y"] == [0.5, 0.25]
    assert (kept["x"], kept["y"]) == ([1], [0.25])


def test_an_actuator_that_was_never_used_divides_by_nothing(run):
    last = dataclasses.replace(run.rounds[-1], action_std=(0.0, 1.0), error=(0.0, 0.5))
    chart = error_chart(dataclasses.replace(run, rounds=(last,)))
    assert [trace["y"] for trace in chart.data] == [[0.0], [0.5]]
