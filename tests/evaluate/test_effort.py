from dataclasses import replace

import numpy as np
import pytest

from isthmus.core import WorldSpec
from isthmus.evaluate.effort import Effort, EffortMeter

SPEC = WorldSpec(
    ("x",),
    ("a", "b"),
    np.array([-2.0, 0.0]),
    np.array([2.0, 1.0]),
    control_period=0.1,
    horizon=10,
    targets=np.arange(1),
)
BOTH = np.ones(2, np.bool_)


def metered(*steps, running=BOTH):
    meter = EffortMeter(SPEC, 2)
    for applied in steps:
        meter.add(np.array(applied), running)
    return meter.effort


def test_effort_is_measured_from_the_middle_of_each_range_in_half_ranges():
    found = metered([[2.0, 0.5], [-2.0, 0.5]], [[0.0, 1.0], [0.0, 0.0]])
    assert found.effort == pytest.approx(np.sqrt(4 / 8))
    assert found.at_limits == pytest.approx(4 / 8)
    assert found.command_rate == pytest.approx(1.0)
    assert found.steps == 4


def test_robots_that_have_ended_do_not_count():
    alone = metered([[1.0, 0.5], [2.0, 1.0]], [[-1.0, 0.5], [-2.0, 0.0]], running=np.array([True, False]))
    assert alone == Effort(pytest.approx(np.sqrt(0.5 / 4 * 1)), pytest.approx(np.sqrt(0.5)), 0.0, 2)


def test_from_one_episode_to_the_next_nothing_changes():
    meter = EffortMeter(SPEC, 1)
    for applied in (2.0, -2.0):
        meter.begin()
        meter.add(np.array([[applied, 0.5]]), np.ones(1, np.bool_))
    assert meter.effort.command_rate == 0.0


def test_two_halves_are_joined_to_what_the_whole_has():
    rng = np.random.default_rng(0)
    one, other = (rng.uniform((-2, 0), (2, 1), (6, 2, 2)) for _ in range(2))
    parts = [metered(*one), metered(*other)]
    meter = EffortMeter(SPEC, 2)
    for episode in (one, other):
        meter.begin()
        for applied in episode:
            meter.add(applied, BOTH)
    joined = Effort.joined(parts)
    for name in vars(joined) if hasattr(joined, "__dict__") else ("effort", "command_rate", "at_limits", "steps"):
        assert getattr(joined, name) == pytest.approx(getattr(meter.effort, name))


@pytest.mark.parametrize(
    ("rate", "before", "chatters"), [(0.31, 0.2, True), (0.29, 0.2, False), (0.05, 0.02, False), (0.08, 0.02, True)]
)
def test_who_changes_commands_half_as_much_again_chatters_unless_it_is_next_to_nothing(rate, before, chatters):
    calm = Effort(0.5, before, 0.0, 100)
    assert replace(calm, command_rate=rate).chatters_beside(calm) is chatters
