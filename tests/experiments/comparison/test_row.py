import pytest

from isthmus.experiments.comparison import Case
from isthmus.experiments.comparison.case import Entry, choose_entries
from isthmus.experiments.comparison.row import Row


def test_mean_spread_and_error_are_over_seeds(make_row):
    row = make_row("pd", 0.8, 0.9, 1.0)
    assert row.mean == pytest.approx(0.9)
    assert row.std == pytest.approx(0.1)
    assert row.error == pytest.approx(0.1 / 3**0.5)


def test_one_seed_has_no_spread_and_its_error_is_that_of_its_episodes(make_row):
    row = make_row("pd", 0.8, episode_error=0.03)
    assert row.std is None
    assert row.error == 0.03


def test_a_difference_within_the_noise_is_none(make_row):
    assert make_row("pd", 0.9, 0.94).beats(make_row("inverse", 0.8, 0.81))
    assert not make_row("pd", 0.9, 0.7).beats(make_row("inverse", 0.75, 0.77))
    assert not make_row("pd", 0.905, 0.905).beats(make_row("inverse", 0.9, 0.9))  # sure, and too little to matter
    assert not make_row("pd", 0.8, 0.81).beats(make_row("inverse", 0.9, 0.94))


def test_seeds_that_are_harder_for_all_do_not_hide_a_difference(make_row):
    better, worse = make_row("pd", 0.52, 0.72, 0.92), make_row("inverse", 0.5, 0.7, 0.9)
    assert better.beats(worse)
    assert better.mean - worse.mean < better.error


def test_one_seed_is_judged_by_its_episodes(make_row):
    assert make_row("pd", 0.9, episode_error=0.01).beats(make_row("inverse", 0.8, episode_error=0.01))
    assert not make_row("pd", 0.9, episode_error=0.05).beats(make_row("inverse", 0.8, episode_error=0.05))


def test_a_control_step_has_the_control_period_and_no_longer(make_row):
    assert make_row("pd", 1.0, step=19_000.0).keeps_up
    assert not make_row("pd", 1.0, step=21_000.0).keeps_up
    assert make_row("pd", 1.0, step=None).keeps_up


def test_a_row_has_what_is_asked_of_it_as_plain_data(make_row):
    plain = make_row(Entry("inverse", 2), 0.8, 0.9, missing=(2,)).to_json()
    assert plain["method"] == "inverse, history 2"
    assert plain["normalised"] == pytest.approx(0.85)
    assert plain["sees"] == "target observations and actions"
    assert (plain["samples"], plain["fit_seconds"], plain["step_microseconds"]) == (1000, 1.0, 10.0)
    assert (plain["missing"], plain["problem"]) == ([2], None)


def test_seeds_that_could_not_be_run_leave_a_problem_and_no_score(make_row):
    made = make_row("pd", 0.5).found[0]
    case = Case("reacher", "none", 100, choose_entries("pd"))
    row = Row.of(case, Entry("pd"), {0: {"problem": "no joints"}, 2: made}, seeds=3)
    assert (row.problem, row.scores, row.missing) == ("no joints", [0.5], (1,))
    nothing = Row.of(case, Entry("pd"), {0: {"problem": "no joints"}}, seeds=1)
    assert nothing.to_json() | {"normalised": None, "samples": None, "step_microseconds": None} == nothing.to_json()


def test_enough_are_the_samples_from_which_the_score_held(make_row):
    assert make_row("pd", 0.9, 0.9, early=((250, 0.2), (500, 0.0), (750, 0.005))).samples_needed == 500
    assert make_row("pd", 0.9, 0.9, early=((250, 0.0), (500, 0.3), (750, 0.0))).samples_needed == 750
    assert make_row("pd", 0.9, 0.9, early=((250, 0.3), (500, 0.3), (750, 0.3))).samples_needed == 1000
    assert (
        make_row("pd", 0.8, 1.0, early=((250, 0.1), (500, 0.1), (750, 0.1))).samples_needed == 250
    )  # well within the noise
    assert make_row("gaussian", 0.9, samples=0).samples_needed == 0
