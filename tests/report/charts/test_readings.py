"""What the page says of each chart, in plain words."""

import dataclasses

import numpy as np
import pytest

from isthmus.adapt import PredictedScore
from isthmus.report.charts import (
    correction_reading,
    coverage_chart,
    curve_chart,
    error_chart,
    loss_chart,
    rehearsal_chart,
    still_rising,
    tracking_chart,
)


def scored(run, *scores, std=0.01):
    rounds = [
        dataclasses.replace(one, normalised=score, std=std) for one, score in zip(run.rounds, scores, strict=False)
    ]
    result = dataclasses.replace(run.result, normalised_unadapted=0.5, std=run.result.std | {"unadapted": std})
    return dataclasses.replace(run, rounds=tuple(rounds), result=result)


@pytest.mark.parametrize(
    ("scores", "text", "rises"),
    [
        ((0.6, 0.9), "after 100 of 100 samples, and the last round still added 0.30: more samples may help", True),
        ((0.9, 0.9), "after 50 of 100 samples, and the last round changed it by no more than noise", False),
        ((0.4, 0.3), "ends below the dotted line", False),
        ((0.5, 0.5), "ends where it began", False),
        ((0.9,), "one round was scored: 0.90 after 50 samples", False),
    ],
)
def test_the_curve_says_whether_more_samples_help(run, scores, text, rises):
    assert text in curve_chart(scored(run, *scores)).reading
    assert still_rising(scored(run, *scores)) is rises


@pytest.mark.parametrize(
    ("happened", "text"), [(0.9, "came to 0.90: as predicted"), (0.5, "came to 0.50: 0.40 worse than predicted")]
)
def test_rehearsals_say_whether_the_prediction_was_right(run, happened, text):
    predicted = {"unadapted": PredictedScore(0.5, 0.01, 8), "inverse": PredictedScore(0.9, 0.01, 8)}
    last = dataclasses.replace(run.rounds[-1], chosen="inverse", predicted=0.9, predicted_scores=predicted)
    result = dataclasses.replace(run.result, normalised_adapted=happened)
    chart = rehearsal_chart(dataclasses.replace(run, rounds=(*run.rounds[:-1], last), result=result))
    assert "“inverse” was taken with 0.90, 0.40 ahead of the next" in chart.reading
    assert text in chart.reading


def test_tracking_says_what_adaptation_does_to_the_error(run):
    adapted, unadapted = run.traces["adapted"], run.traces["unadapted"]

    def reading(trace):
        return tracking_chart(dataclasses.replace(run, traces=run.traces | {"adapted": trace})).reading

    assert "leaves the median error at" in reading(unadapted)
    perfect = dataclasses.replace(adapted, wanted=adapted.observations[:, 1:])
    assert "reduces the median error from" in reading(perfect)
    worse = dataclasses.replace(unadapted, wanted=unadapted.wanted + 10.0)
    assert "raises the median error from" in reading(worse)


def test_corrections_say_whether_limits_are_in_the_way(run):
    trace = run.traces["adapted"]
    source = np.zeros_like(trace.source)

    def reading(commands):
        changed = dataclasses.replace(trace, source=source, commands=commands)
        return correction_reading(dataclasses.replace(run, traces=run.traces | {"adapted": changed}))

    commands = source.copy()
    assert "hardly changed: by less than 0.5 %" in reading(commands)
    commands[..., 1] = 0.5
    assert "joint1 is corrected the most, by 25\N{NO-BREAK SPACE}% of its range" in reading(commands)
    assert "room left" in reading(commands)
    commands[..., 0] = 2.0
    assert "joint0 is at its limit in 100\N{NO-BREAK SPACE}% of the steps" in reading(commands)


def test_coverage_says_how_much_of_the_course_has_data(run):
    assert "% of the adapted policy’s course has a sample nearby" in coverage_chart(run).reading
    there = run.rounds[0].episodes[0][0].observations
    trace = run.traces["adapted"]
    steps = min(len(there), trace.observations.shape[1])
    seen = np.repeat(there[None, :steps], len(trace.lengths), axis=0)
    same = dataclasses.replace(trace, observations=seen, lengths=np.full(len(trace.lengths), steps - 1))
    chart = coverage_chart(dataclasses.replace(run, traces=run.traces | {"adapted": same}))
    assert "100\N{NO-BREAK SPACE}% of the adapted policy’s course" in chart.reading


def test_the_fit_says_how_good_it_is_and_whether_data_is_lacking(run):
    last = dataclasses.replace(
        run.rounds[-1], error=(0.1, 0.4), action_std=(1.0, 1.0), losses=((1.0, 1.0), (0.1, 0.5)), best=1
    )
    first = dataclasses.replace(run.rounds[0], error=(0.6, 0.6), action_std=(1.0, 1.0))
    changed = dataclasses.replace(run, rounds=(first, last))
    text = "at 0.25 after the last round, and was at 0.6 after the first; the worst is joint1 at 0.4"
    assert text in error_chart(changed).reading
    assert "held-out loss is 5.0 times the training loss: more samples would help" in loss_chart(changed).reading
    good = dataclasses.replace(last, losses=((1.0, 1.0), (0.1, 0.11)))
    assert "Here they do" in loss_chart(dataclasses.replace(run, rounds=(first, good))).reading
