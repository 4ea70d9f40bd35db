import pytest

from isthmus.experiments.comparison.advice import advise
from isthmus.experiments.comparison.case import Entry


@pytest.fixture
def idle(make_row):
    return make_row("unadapted", 0.80, 0.81, 0.79)


def test_the_best_beyond_the_noise_is_taken(make_row, idle):
    advice = advise([idle, make_row("pd", 0.9, 0.9, 0.9), make_row("inverse", 0.95, 0.96, 0.95)], {})
    assert advice.take == "inverse"
    assert advice.text == (
        "Take inverse: it comes to 0.953 ± 0.006 after 1,000 samples, and the expert as it is to 0.800 ± 0.010."
    )


def test_among_equals_fewer_samples_then_less_history_then_a_shorter_fit(make_row, idle):
    frugal = make_row("pd", 0.95, 0.96, 0.94, samples=500)
    assert advise([idle, make_row("inverse", 0.955, 0.955, 0.955), frugal], {}).take == "pd"
    early = make_row("pd", 0.95, 0.96, 0.94, early=((400, 0.0),))
    advice = advise([idle, make_row("inverse", 0.955, 0.955, 0.955), early], {})
    assert advice.take == "pd"
    assert "after 1,000 samples (400 would have done)" in advice.text
    plain, looking_back = make_row("inverse", 0.95, 0.95, 0.95), make_row(Entry("inverse", 2), 0.95, 0.96, 0.95)
    advice = advise([idle, looking_back, plain], {})
    assert advice.take == "inverse"
    assert "asking for no less: inverse, history 2 (0.953)" in advice.text
    quick = make_row("correction", 0.95, 0.95, 0.95, fit=0.1)
    assert advise([idle, plain, quick], {}).take == "correction"


def test_when_nothing_beats_doing_nothing_that_is_said(make_row, idle):
    advice = advise([idle, make_row("pd", 0.5, 0.5, 0.5), make_row("inverse", 0.82, 0.78, 0.81)], {})
    assert advice.take == "unadapted"
    assert "no method does better beyond the noise (the best of them, inverse, comes to 0.803" in advice.text
    assert advise([idle], {}).take == "unadapted"


def test_what_sees_the_targets_reward_is_never_the_advice(make_row, idle, kinds):
    cheat = make_row(kinds("cheat", sees="all", sees_reward=True), 1.2, 1.2, 1.2)
    advice = advise([idle, cheat, make_row("pd", 0.9, 0.9, 0.9)], {})
    assert advice.take == "pd"
    assert "cheat comes to 1.200 ± 0.000, but sees the target's reward." in advice.text
    assert advise([idle, cheat], {}).take == "unadapted"


def test_what_cannot_keep_up_is_not_the_advice(make_row, idle):
    late = make_row("gaussian", 1.2, 1.2, 1.2, step=30_000.0)
    advice = advise([idle, late, make_row("pd", 0.9, 0.9, 0.9)], {})
    assert advice.take == "pd"
    assert "gaussian comes to 1.200 ± 0.000, but its control step takes longer than there is time." in advice.text


def test_the_distance_to_the_highest_ceiling_is_told(make_row, idle):
    rows = [idle, make_row("pd", 0.9, 0.9, 0.9)]
    assert "1.000 (root metric): 0.100 above that." in advise(rows, {"even": 0.3, "root": 1.0}).text
    assert "0.900 (even metric): that is reached." in advise(rows, {"even": 0.9}).text


def test_what_is_missing_is_told_and_what_cannot_serve_is_left_out(make_row, idle):
    rows = [idle, make_row("pd", problem="no joints"), make_row("inverse", 0.9, 0.9, missing=(2,))]
    advice = advise(rows, {})
    assert advice.take == "inverse"
    assert advice.text.endswith("runs of inverse are missing.")


def test_without_the_expert_as_it_is_there_is_nothing_to_go_by(make_row):
    assert advise([make_row("unadapted", missing=(0,)), make_row("pd", 0.9)], {}).take is None


def test_an_unsteady_best_does_not_hide_one_that_is_sure_to_help(make_row, idle):
    unsteady, sure = make_row("pd", 1.3, 0.8, 0.8), make_row("inverse", 0.9, 0.9, 0.9)
    assert unsteady.mean > sure.mean
    assert advise([idle, unsteady, sure], {}).take == "inverse"
