import numpy as np
import pytest

from isthmus.core import Problem, stream
from isthmus.gaps import Ranges
from isthmus.robots import load_task

HOPPER = load_task("hopper").robot_model.model


def test_draws_stay_within_and_come_near_both_ends():
    ranges = Ranges.parse("mass=0.5:2, damping=0.5:1.5,delay=0:2,sensor-bias=0:0.01,mass:torso=1:1.5")
    rng = stream(0)
    drawn = [dict(ranges.draw(rng).settings) for _ in range(400)]
    for name, low, high in (("mass", 0.5, 2), ("mass:torso", 1, 1.5), ("sensor-bias", 0, 0.01)):
        values = np.array([one[name] for one in drawn])
        assert low <= values.min() < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < values.max() <= high
    assert np.mean([one["mass"] > 1 for one in drawn]) == pytest.approx(0.5, abs=0.08)  # as often down as up
    assert {one["delay"] for one in drawn} == {0, 1, 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mass", "two numbers"),
        ("mass=1", "two numbers"),
        ("mass=1:x", "two numbers"),
        ("mass=2:1", "smaller number first"),
        ("mass=0.8:100", "from 0.1 to 10"),
        ("mas=0.8:1.2", "did you mean 'mass'"),
        ("delay=0:0.5", "whole number"),
        ("mass=0.8:1,mass=1:1.2", "given twice"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(text, message):
    with pytest.raises(Problem, match=message):
        Ranges.parse(text)


def test_ranges_are_refused_when_one_corner_does_not_fit_the_robot():
    Ranges.parse("mass=0.8:1.2,damping=0.5:2").check(HOPPER)
    with pytest.raises(Problem, match="does not fit"):
        Ranges.parse("mass=0.8:1.2,tilt=0:10").check(HOPPER)
    with pytest.raises(Problem, match="cannot be simulated"):  # though either dial may go that far by itself
        Ranges.parse("armature=0.2:1,damping=1:3").check(load_task("humanoid").robot_model.model)
