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


def test_a_star_draws_every_body_for_itself_and_leaves_out_what_does_not_fit() -> None:
    model = load_task("hopper").robot_model.model
    gap = Ranges.parse("mass:*=0.85:1.15,joint-z:*=-0.02:0.02").on(model).draw(stream(3, "star"))
    names = [name for name, _ in gap.settings]
    assert [name for name in names if name.startswith("mass")] == ["mass:foot", "mass:leg", "mass:thigh", "mass:torso"]
    assert "joint-z:torso" not in names
    assert "joint-z:leg" in names
    assert len({value for _, value in gap.settings}) == len(names)


def test_a_pool_has_so_many_gaps_and_is_the_same_again() -> None:
    model = load_task("hopper").robot_model.model
    ranges = Ranges.parse("mass:*=0.85:1.15,models=5")
    assert len(set(ranges.pool(model))) == 5
    assert ranges.pool(model) == ranges.pool(model)
    assert ranges.pool(model) != ranges.pool(model, seed=1)


def test_inertial_is_thirty_robots_within_the_papers_ranges() -> None:
    model = load_task("ant").robot_model.model
    ranges = Ranges.parse("inertial")
    assert ranges.models == 30
    for gap in ranges.pool(model)[:3]:
        changed = gap.apply(model)
        moved = np.abs(changed.body_ipos - model.body_ipos).max(axis=1)
        assert 0.001 < moved.max() <= 0.02
        share = changed.body_mass[model.body_mass > 0] / model.body_mass[model.body_mass > 0]
        assert 0.85 <= share.min() < share.max() <= 1.15


@pytest.mark.parametrize("text", ["mass=0.9:1.1,models=0", "mass=0.9:1.1,models=x"])
def test_a_pool_of_no_models_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="needs a whole number from 1 to 10000"):
        Ranges.parse(text)
