"""Which candidate is taken, by the scores of rehearsals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.auto.selection import FIRST, PARTS, PREVIOUS, UNADAPTED, CandidateSelection, chosen, unsettled
from isthmus.adapt.method import Rehearsal


class Candidate:
    """A method whose policy is its own name: rehearsals here look scores up."""

    needs_target_data, history = True, 1

    def __init__(self, name):
        self.name = name

    def policy(self):
        return self.name


def selection(scores, source=2.0, zero=0.0, **options):
    """A selection among candidates with these scores: constants, or functions of the part of a rehearsal."""

    def rehearsed(name, _history, part):
        score = scores[name]
        return score(part) if callable(score) else np.full(16, score)

    rehearsal = Rehearsal(rehearsed, source=always(source), zero=always(zero))
    found = CandidateSelection(rehearsal, 1, Candidate(UNADAPTED), **options)
    found.add({name: Candidate(name) for name in scores if name != UNADAPTED})
    return found


def always(score):
    return lambda _part: np.full(16, score)


def scores(**means):
    noise = np.random.default_rng(0).standard_normal(16)
    means = {UNADAPTED: 0.0, PREVIOUS: 0.0} | means
    return {name: mean + (0.1 * noise if name == PREVIOUS else noise) for name, mean in means.items()}


def test_what_surely_does_better_is_taken():
    assert chosen(scores(explained=1.0)) == "explained"
    assert chosen(scores(explained=1.0, identified=2.0)) == "identified"
    assert chosen(scores(explained=2.0, identified=1.0)) == "explained"


def test_the_policy_as_it_is_stays_where_nothing_does_better():
    for mean in (-1.0, 0.0):
        first_round = scores(explained=mean)
        del first_round[PREVIOUS]
        assert chosen(first_round) == UNADAPTED


def test_what_was_taken_stays_where_what_is_new_does_worse():
    assert chosen(scores(explained=1.0) | {PREVIOUS: np.full(16, 9.0)}) == PREVIOUS


def test_what_was_taken_is_given_up_only_for_what_surely_does_better():
    """It has run on the target: a rehearsal that cannot tell it from the policy as it is says nothing against it."""
    noise = np.random.default_rng(3).standard_normal(16)
    plain, noise = np.zeros(16), noise - noise.mean()
    unsure = {UNADAPTED: plain, "residual-action": 0.1 + noise, PREVIOUS: noise - 0.1}
    assert chosen(unsure) == PREVIOUS
    assert chosen(unsure, 5.0) == PREVIOUS
    assert chosen(unsure | {PREVIOUS: noise - 1.0}) == UNADAPTED
    assert chosen(unsure | {"residual-action": 1.0 + noise}) == "residual-action"


def test_what_seems_to_do_better_is_looked_at_again():
    noise = 2 * np.random.default_rng(1).standard_normal(16)
    plain = np.zeros(16)
    tried = {UNADAPTED: plain, "residual-action": 0.3 + noise - noise.mean(), "model-inverse": plain - 1.0}
    assert unsettled(tried, 0.05) == [UNADAPTED, "residual-action"]
    assert unsettled(tried, 0.5) == []  # it would not be worth it
    assert unsettled(tried | {"residual-action": plain + 0.3}, 0.05) == []  # that is sure
    longer = tried | {UNADAPTED: np.zeros(32)}
    assert unsettled(longer, 0.05) == []  # settled before, when others were not
    assert chosen(longer | {"model-inverse": np.full(16, 0.1), PREVIOUS: np.zeros(32)}) == "model-inverse"


def test_early_on_who_may_turn_out_to_do_better_is_looked_at_again():
    noise = np.random.default_rng(1).standard_normal(8)
    unlucky = {UNADAPTED: np.zeros(8), "residual-action": noise - noise.mean(), "model-inverse": np.full(8, -1.0)}
    assert unsettled(unlucky, 0.05, early=True) == [UNADAPTED, "residual-action"]
    assert unsettled(unlucky, 0.05) == []
    assert unsettled(unlucky, 5.0, early=True) == []  # so much it cannot be


def test_for_next_to_nothing_nothing_is_changed():
    tried = {UNADAPTED: np.zeros(16), "residual-action": np.full(16, 0.02)}
    assert chosen(tried, 0.01) == "residual-action"
    assert chosen(tried, 0.03) == UNADAPTED


def test_what_was_lost_is_told_from_the_same_starts():
    """Some starts are easier than others: that alone is neither a loss nor a gain."""
    easy = np.linspace(2.0, 9.0, 16)
    rehearsal = Rehearsal(lambda *_: easy - 0.5, source=lambda _part: easy, zero=lambda _part: easy - 1.0)
    contest = CandidateSelection(rehearsal, 1, Candidate(UNADAPTED))
    assert not contest.is_needless
    assert contest.falls_short
    assert contest.predicted_scores[UNADAPTED].score == pytest.approx(0.5)


@pytest.mark.parametrize(("spread", "felt"), [(0.1, True), (2.0, False)])
def test_a_loss_that_drowns_in_the_experts_own_spread_is_not_felt(spread, felt):
    """A cost near zero: any loss is a large share of it."""
    scores = spread * np.linspace(-1, 1, 16) - 0.01
    rehearsal = Rehearsal(lambda *_: scores - 0.02, source=lambda _part: scores, zero=always(-50.0))
    contest = CandidateSelection(rehearsal, 1, Candidate(UNADAPTED))
    assert contest.is_needless is not felt


@given(st.lists(st.floats(-5, 5), min_size=16, max_size=16))
def test_a_candidate_that_does_worse_everywhere_is_never_taken(plain):
    plain = np.array(plain)
    assert chosen({UNADAPTED: plain, "residual-action": plain - 0.1}) == UNADAPTED
    assert chosen({UNADAPTED: plain, "residual-action": plain - 0.1, PREVIOUS: plain - 0.2}) == UNADAPTED


@pytest.mark.parametrize(("source", "unadapted"), [(2.0, 1.0), (-3.0, -8.0), (500.0, 100.0)])
@pytest.mark.parametrize(("won_back", "taken"), [(0.08, UNADAPTED), (0.12, "residual-action")])
def test_a_tenth_of_the_loss_must_be_won_back(source, unadapted, won_back, taken):
    won = unadapted + won_back * (source - unadapted)
    found = selection({UNADAPTED: unadapted, "residual-action": won}, source, zero=source - 10_000)
    assert found.selected == taken


def test_where_nothing_was_lost_any_sure_gain_is_taken():
    assert selection({UNADAPTED: 2.5, "residual-action": 2.51}).selected == "residual-action"


def test_of_sure_gains_the_largest_is_taken_and_the_previous_only_where_it_is_surely_better():
    tried = {UNADAPTED: 0.5, "residual-action": 1.0, "model-inverse": 1.5, PREVIOUS: 1.5}
    assert selection(tried).selected == "model-inverse"
    assert selection(tried | {PREVIOUS: 1.6}).selected == PREVIOUS


def noisy(mean, std):
    """Scores of 16 starts of each part, with exactly this mean and deviation."""

    def score(part):
        noise = np.random.default_rng(part).standard_normal(16)
        return mean + std * (noise - noise.mean()) / noise.std()

    return score


@pytest.mark.parametrize(("std", "sure"), [(0.19, True), (0.21, False)])
def test_a_gain_of_two_standard_errors_is_sure(std, sure):
    """16 starts: the standard error is a quarter of the deviation, and the gain 0.1."""
    tried = {UNADAPTED: np.zeros(16), "residual-action": noisy(0.1, std)(0)}
    assert chosen(tried) == ("residual-action" if sure else UNADAPTED)
    assert unsettled(tried, 0.05) == ([] if sure else [UNADAPTED, "residual-action"])


def test_what_stays_unsure_is_rehearsed_in_every_part():
    found = selection({UNADAPTED: 1.0, "residual-action": noisy(1.2, 10.0), "model-inverse": 0.9})
    assert {name: len(one) for name, one in found.scores.items()} == {
        UNADAPTED: 16 * PARTS,
        "residual-action": 16 * PARTS,
        "model-inverse": 16,
    }


def test_what_only_may_turn_out_better_is_rehearsed_in_the_first_parts():
    found = selection({UNADAPTED: 1.0, "residual-action": noisy(1.0, 1.0)})
    assert len(found.scores["residual-action"]) == 16 * FIRST


@pytest.mark.parametrize(
    ("loss", "gain", "longer"),
    [(1.0, 0.2, False), (1.0, 0.3, True), (0.8, 0.22, True), (4.0, 0.4, False), (4.0, 0.6, True)],
)
def test_an_unsure_gain_is_worth_another_look_by_the_loss_and_by_the_sources_score(loss, gain, longer):
    """A quarter of the loss is worth it, and so is a twentieth of what the source's policy has above doing nothing."""
    plain = 100.0 - loss
    found = selection({UNADAPTED: plain, "residual-action": noisy(plain + gain, 5.0)}, source=100.0, zero=90.0)
    assert (len(found.scores[UNADAPTED]) > 16 * FIRST) is longer


@pytest.mark.parametrize(("score", "short"), [(1.84, True), (1.86, False)])
def test_who_recovers_nine_tenths_of_the_loss_does_not_fall_short(score, short):
    assert selection({UNADAPTED: 0.5, "residual-action": score}).falls_short is short


@pytest.mark.parametrize(("score", "short"), [(-8.5, True), (-7.5, False)])
def test_where_doing_nothing_is_catastrophic_a_loss_counts_by_itself(score, short):
    """0.992 and 0.997 on the scale on which doing nothing is 0."""
    found = selection({UNADAPTED: -9.9, "residual-action": score}, source=-7.3, zero=-370.0)
    assert found.falls_short is short


def test_a_loss_that_nobody_notices_is_not_short():
    found = selection({UNADAPTED: 97.0, "residual-action": 99.2}, source=100.0, zero=0.0)
    assert not found.falls_short  # less than a tenth of the loss is not all that counts


def test_what_the_target_has_proven_is_given_up_only_for_what_surely_does_better():
    noise = np.random.default_rng(3).standard_normal(16)
    noise -= noise.mean()
    tried = {UNADAPTED: np.zeros(16), PREVIOUS: np.full(16, 1.0), "residual-action": 1.3 + noise}
    assert chosen(tried) == "residual-action"
    assert chosen(tried, is_proven=True) == PREVIOUS
    assert chosen(tried | {"residual-action": 1.3 + 0.1 * noise}, is_proven=True) == "residual-action"
    assert chosen(tried | {PREVIOUS: np.full(16, -1.0)}, is_proven=True) == "residual-action"


def test_the_best_of_some_is_told_by_what_is_left_of_the_loss():
    found = selection({UNADAPTED: 0.5, "a": 1.0, "b": 1.5, "c": 1.9})
    assert found.best(["a", "b", "never rehearsed"]) == "b"
    assert found.best(["never rehearsed"]) is None


def test_predicted_scores_are_shares_with_standard_errors():
    found = selection({UNADAPTED: noisy(4.0, 2.0)}, source=10.0, zero=2.0).predicted_scores[UNADAPTED]
    assert (found.score, found.episodes) == (pytest.approx(0.25), 16)
    assert found.error == pytest.approx(2.0 / 8.0 / 4)


def test_without_a_fall_back_the_best_of_the_others_is_taken():
    found = selection({UNADAPTED: 1.9, "residual-action": 0.2, "model-inverse": 0.4}, fall_back=False)
    assert found.selected == "model-inverse"
    assert not found.is_needless
