import numpy as np
import pytest

from isthmus.evaluate import Trace
from isthmus.report.storyboard import MOST, plan


def trace(steps, lengths=None, n=8):
    lengths = np.full(n, steps) if lengths is None else np.array(lengths)
    flat = np.zeros((len(lengths), steps, 1))
    longer = np.zeros((len(lengths), steps + 1, 1))
    return Trace(longer, flat, flat, flat, longer, lengths)


def test_short_episodes_are_slowed_down():
    timeline = plan([trace(50)], 0.02)
    assert timeline.speed == 0.25
    assert timeline.fps == pytest.approx(12.5)
    assert sorted(set(timeline.steps.tolist())) == list(range(51))
    assert "Two episodes of 1\N{NO-BREAK SPACE}s" in timeline.caption
    assert "quarter of real speed" in timeline.caption


def test_an_end_stands_still_for_a_moment():
    timeline = plan([trace(50)], 0.02)
    first = timeline.steps[timeline.episodes == 0]
    assert (first[-8:] == 50).all()


def test_long_episodes_are_thinned_out_and_cut():
    timeline = plan([trace(1000)], 0.008)
    assert timeline.speed == 1.0
    assert timeline.fps <= 30
    assert set(timeline.episodes) == {0}
    assert len(set(timeline.steps.tolist())) <= MOST
    whole = plan([trace(5000)], 0.02)
    assert whole.cut
    assert "The first" in whole.caption


def test_the_longest_of_the_policies_decides():
    timeline = plan([trace(3, [3, 3]), trace(40, [40, 12])], 0.05)
    assert timeline.steps.max() == 40


def test_a_single_episode_will_do():
    timeline = plan([trace(20, [20])], 0.05)
    assert set(timeline.episodes) == {0}
    assert "An episode of" in timeline.caption
