"""A stand-in as a Gymnasium environment."""

import numpy as np
import pytest

from isthmus.robots.anymal.environment import StandInAnymal
from isthmus.robots.anymal.model import STANCE
from isthmus.robots.anymal.task import CLOCK, COMMAND, FASTEST, SIZE, SLOWEST


@pytest.fixture(scope="module")
def environment():
    made = StandInAnymal()
    yield made
    made.close()


def test_it_is_told_a_speed_by_its_seed_and_stands(environment):
    first, _ = environment.reset(seed=3)
    again, _ = environment.reset(seed=3)
    other, _ = environment.reset(seed=4)
    assert first.shape == (SIZE,)
    assert first[COMMAND] == again[COMMAND] != other[COMMAND]
    assert SLOWEST <= other[COMMAND] <= FASTEST
    for _ in range(40):
        seen, reward, ended, cut, _ = environment.step(STANCE)
    np.testing.assert_allclose(seen[CLOCK] - other[CLOCK], 0.8)
    assert not ended
    assert not cut
    # It stands still: nothing for the speed, all for walking straight, less the torque that holds it up.
    expected = 0.6 + np.exp(-np.square(other[COMMAND]) / 0.04)
    assert expected - 0.1 < reward < expected


def test_it_ends_with_a_fall(environment):
    environment.reset(seed=0)
    folded = STANCE + np.tile([0.0, 1.2, -1.2], 4)
    ended = [environment.step(folded)[2] for _ in range(120)]
    assert ended[-1]
    assert not ended[0]
