import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import stream
from isthmus.evaluate import Scale
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.transfer.targets.target import FIRST_EPISODES, SimulatedTarget, clear_of


def scored(settled):
    task, seen = load_task("reacher"), []

    def watched(scores):
        seen.append(len(scores))
        return settled

    target = SimulatedTarget(task, Gap.parse("none"), 20)
    ask = None if settled is None else watched
    return target.score(ZeroPolicy(2), 1, stream(0, "evaluate"), ask), seen


def test_what_is_settled_early_takes_no_more_episodes():
    early, seen = scored(settled=True)
    assert seen == [FIRST_EPISODES]
    late, _ = scored(settled=False)
    whole, asked = scored(settled=None)
    assert asked == []
    assert early.score != late.score
    assert late.score != whole.score  # the same robots from other starts


SCORES = np.random.default_rng(0).normal(5.0, 1.0, 16)


def test_scores_are_clear_of_what_is_far_from_their_mean():
    error = SCORES.std() / np.sqrt(15)
    for side in (-1, 1):
        assert clear_of(SCORES.mean() + side * 3.01 * error)(SCORES)
        assert not clear_of(SCORES.mean() + side * 2.99 * error)(SCORES)


@given(st.floats(-1e4, 0), st.floats(1e-2, 1e4), st.floats(-2, 2))
def test_what_is_clear_in_scores_is_clear_in_shares_of_the_experts(zero, length, enough):
    scale = Scale(zero, zero + length)
    shares = enough + np.random.default_rng(0).normal(0.2, 0.27, 16)  # close to the limit
    for drawn in (shares, shares + 0.05, shares - 0.05):
        scores = np.array([scale.score(share) for share in drawn])
        assert clear_of(scale.score(enough))(scores) == clear_of(enough)(drawn)
