import numpy as np
import pytest

from isthmus.hardware import ClockOffset


def heard(ahead, delays, begin=100.0):
    offset = ClockOffset()
    tell(offset, ahead, delays, begin)
    return offset


def tell(offset, ahead, delays, begin=100.0):
    for number, delay in enumerate(delays):
        sent = begin + 0.01 * number
        offset.add(sent + ahead, sent + delay)


DELAYS = 0.002 + np.random.default_rng(0).exponential(0.005, 60)


def test_clocks_that_agree_are_taken_as_one():
    offset = heard(0.0, DELAYS)
    assert offset.ahead == 0.0
    assert not offset.fault


@pytest.mark.parametrize("ahead", [0.05, -0.05])
def test_a_small_difference_is_found_though_readings_take_their_time(ahead):
    offset = heard(ahead, DELAYS)
    assert offset.ahead == pytest.approx(ahead, abs=0.005)
    assert not offset.fault


@pytest.mark.parametrize(("ahead", "side"), [(5.0, "ahead of"), (-5.0, "behind"), (0.9, "ahead of")])
def test_a_large_difference_is_refused_with_what_to_do(ahead, side):
    fault = heard(ahead, DELAYS).fault
    assert side in fault
    assert "chrony" in fault


def test_nothing_is_said_before_enough_was_heard():
    assert heard(5.0, DELAYS[:10]).ahead is None


def test_drift_is_followed_and_a_jump_is_not():
    offset = heard(0.05, DELAYS)
    tell(offset, 0.06, np.tile(DELAYS, 2), 200.0)
    offset.follow()
    assert offset.ahead == pytest.approx(0.06, abs=0.005)
    tell(offset, 2.0, np.tile(DELAYS, 2), 300.0)
    offset.follow()
    assert offset.ahead == pytest.approx(0.06, abs=0.005)
