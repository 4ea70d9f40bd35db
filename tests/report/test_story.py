import dataclasses

import pytest

from isthmus.evaluate import Scale
from isthmus.report.story import duration, figures, number, sentence


def result_of(run, before, after, **others):
    scale = Scale(run.result.zero, run.result.expert)
    return dataclasses.replace(
        run.result,
        unadapted=scale.score(before),
        adapted=scale.score(after),
        normalised_unadapted=before,
        normalised_adapted=after,
        **others,
    )


def told(run, before, after, samples=2000):
    return sentence(result_of(run, before, after, samples=samples), 0.02).replace("\N{NO-BREAK SPACE}", " ")


def test_says_how_much_of_the_gap_was_closed_and_at_what_cost(run):
    assert told(run, 0.5, 0.985) == (
        "Closed 97 % of the gap with 2,000 samples, 40 s of robot time: the normalised score went from 0.50 to 0.98."
    )


def test_all_of_the_gap_is_not_a_hundred_and_some_percent(run):
    assert told(run, 0.55, 1.004).startswith("Closed the whole gap with 2,000 samples")
    assert "beyond the expert’s own score" in told(run, 0.55, 1.2)


def test_what_a_method_took_and_foresaw_is_told(run):
    choosing = dataclasses.replace(run.result, chosen="residual-action", predicted=0.87)
    text = sentence(dataclasses.replace(choosing, normalised_unadapted=0.2, normalised_adapted=0.9), 0.02)
    assert "took “residual-action”" in text
    assert "0.87 in rehearsal" in text
    assert "rehearsal" not in told(run, 0.2, 0.9)


@pytest.mark.parametrize(
    ("chosen", "predicted", "short"),
    [("residual-action", 0.87, True), ("residual-action", 0.93, False), ("fine-tune", 0.5, False)],
)
def test_where_no_change_of_actions_will_do_that_is_said(run, chosen, predicted, short):
    result = dataclasses.replace(run.result, normalised_unadapted=0.2, normalised_adapted=0.6)
    text = sentence(dataclasses.replace(result, chosen=chosen, predicted=predicted), 0.02)
    assert ("No change of the policy's actions is predicted to close this gap." in text) == short


def test_adaptation_that_did_harm_is_called_that(run):
    assert told(run, 0.55, 0.3).startswith("Adaptation made it worse with")
    assert "went from 0.55 to −0.40" in told(run, 0.55, -0.4)


def test_adaptation_that_did_nothing_is_called_that(run):
    assert told(run, 0.55, 0.56).startswith("Adaptation changed next to nothing with")


@pytest.mark.parametrize("after", [0.99, 1.01, 1.2])
def test_nothing_is_closed_where_there_was_no_loss(run, after):
    text = told(run, 1.0, after)
    assert text.startswith("There was no loss to make up: the policy scores 1.00 on the target as it is, and")
    assert "worse" not in text


def test_harm_is_told_where_there_was_no_loss(run):
    assert "adaptation made it worse, 0.70 after 2,000 samples" in told(run, 1.0, 0.7)


def test_a_run_without_samples_claims_no_adaptation(run):
    assert told(run, 0.55, 0.55, samples=0) == (
        "On the target the policy loses 45 % of its score, from 1.00 to 0.55; "
        "nothing was adapted and no target sample was taken."
    )
    assert "loses nothing on the target" in told(run, 1.0, 1.0, samples=0)
    assert "loses all of its score, from 1.00 to −0.30" in told(run, -0.3, -0.3, samples=0)


def test_a_sliver_of_a_large_gap_is_less_than_a_percent(run):
    assert "less than 1 % of the gap" in told(run, -9.0, -8.97)


def test_one_sample_is_singular(run):
    assert "with 1 sample, 0.02 s of robot time" in told(run, 0.5, 0.8, samples=1)


def test_figures_come_in_order_with_their_spread(run):
    expert, unadapted, adapted = figures(run.result)
    assert [one.role for one in (expert, unadapted, adapted)] == ["expert", "unadapted", "adapted"]
    assert expert.normalised == "1.00"
    assert adapted.normalised == number(run.result.normalised_adapted)
    assert unadapted.std == f"{run.result.std['unadapted']:.2f}"


@pytest.mark.parametrize("normalised", [-3.0, 0.4, 7.0])
def test_a_meter_stays_in_its_frame(run, normalised):
    meter = figures(dataclasses.replace(run.result, normalised_adapted=normalised))[2].meter
    assert meter == min(max(normalised, 0), 1)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.5, "0.5 s"),
        (40, "40 s"),
        (59.7, "1 min"),
        (100, "1 min 40 s"),
        (3600, "1 h"),
        (7512, "2 h 5 min"),
    ],
)
def test_times_read_as_people_say_them(seconds, text):
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


def test_nothing_is_not_minus_nothing():
    assert number(-0.001) == "0.00"


def lamp(run, adapted, **others):
    """Doing nothing is catastrophic here, so that the error of a policy hardly shows on the scale."""
    spread = dict.fromkeys(("zero", "expert", "unadapted", "adapted"), 3.7)
    scores = {"zero": -369.7, "expert": -7.29, "unadapted": -10.24, "adapted": adapted, "std": spread}
    bare = dataclasses.replace(run, result=dataclasses.replace(run.result, **scores))
    scale = Scale(-369.7, -7.29)
    return result_of(bare, scale(-10.24), scale(adapted), samples=600, **others)


def test_a_loss_is_told_by_its_size_where_the_scale_hides_it(run):
    text = sentence(lamp(run, -7.3), 0.02)
    assert text.startswith("Closed the whole gap with 600 samples")
    assert "the score went from −10.24 to −7.30, and the expert has −7.29" in text
    assert sentence(lamp(run, -10.2), 0.02).startswith("Adaptation changed next to nothing")
    assert sentence(lamp(run, -12.0), 0.02).startswith("Adaptation made it worse")
    assert "score falls from −7.29 to −10.24" in sentence(dataclasses.replace(lamp(run, -10.24), samples=0), 0.02)


def test_each_policy_says_how_far_it_is_from_the_expert(run):
    _, unadapted, adapted = (one.loss.replace("\N{NO-BREAK SPACE}", " ") for one in figures(lamp(run, -7.29)))
    assert (unadapted, adapted) == ("40.5 % worse than the expert", "as the expert")
    assert "better than the expert" in figures(lamp(run, -6.0))[2].loss
    assert figures(dataclasses.replace(lamp(run, -6.0), expert=0.0))[2].loss == ""
