import mujoco
import pytest

from isthmus.core import Problem
from isthmus.experiments.suite.bisect import calibrate_family, scorer
from isthmus.experiments.suite.families import FAMILIES, Family, Turn, Way, family
from isthmus.experiments.suite.settings import CLOSE, RUNGS
from isthmus.robots import load_task
from isthmus.transfer import source_policy


@pytest.fixture(scope="module")
def model():
    return load_task("hopper").robot_model.model


def only(gap):
    """The value of a gap's single dial."""
    [(_, value)] = gap.settings
    return value


def shares(found):
    return {rung.share: rung.unadapted for rung in found.rungs}


def test_every_rung_is_found_where_the_score_falls_steadily(model):
    found = calibrate_family(Family("mass", (Way((Turn("mass", 10.0),)),)), model, lambda gap: 2 - only(gap) ** 0.5)
    assert shares(found) == pytest.approx({share: share for share in RUNGS}, abs=CLOSE)
    assert float(found.rungs[0].gap.removeprefix("mass=")) == pytest.approx(2.25, rel=0.05)
    assert found.note == ""
    assert list(found.tried) == sorted(found.tried, key=lambda one: float(one[0].split("=")[1]))


def test_the_first_crossing_counts_where_the_score_rises_again(model):
    """Below 2 the score falls, beyond it rises: sizes beyond the dip are never taken."""
    found = calibrate_family(
        Family("mass", (Way((Turn("mass", 10.0),)),)),
        model,
        lambda gap: max(0.2, abs(only(gap) - 1.8)) if only(gap) > 1 else 1,
    )
    assert all(1 < float(rung.gap.removeprefix("mass=")) < 2 for rung in found.rungs)


def test_a_family_that_costs_too_little_says_how_much_it_costs(model):
    found = calibrate_family(family("damping"), model, lambda gap: 0.9 if only(gap) > 1 else 0.6)
    assert shares(found) == {0.7: 0.6}
    assert found.note == "cannot leave 0.5 or 0.3: damping=0.9375 leaves 0.60"


def test_the_second_way_is_taken_where_the_first_costs_too_little(model):
    found = calibrate_family(family("mass"), model, lambda gap: 1.0 if only(gap) > 1 else only(gap))
    assert shares(found) == pytest.approx({share: share for share in RUNGS}, abs=CLOSE)


def test_whole_steps_are_taken_as_they_are_and_never_one_that_costs_nothing(model):
    found = calibrate_family(family("delay"), model, lambda gap: {1: 0.98, 2: 0.16}.get(only(gap), 0.0))
    assert {rung.gap for rung in found.rungs} == {"delay=2"}
    assert not any(rung.is_met for rung in found.rungs)


def test_a_size_that_cannot_be_simulated_ends_the_search(model):
    def score(gap):
        if only(gap) > 2:
            raise FloatingPointError("diverges")
        return 0.8

    found = calibrate_family(Family("mass", (Way((Turn("mass", 10.0),)),)), model, score)
    assert not found.rungs
    assert found.note.endswith("leaves 0.80; diverges")


def test_a_family_that_does_not_fit_the_robot_says_why():
    reacher = load_task("reacher").robot_model.model
    found = calibrate_family(family("contact friction"), reacher, lambda _gap: 0.5)
    assert not found.rungs
    assert "does not fit this robot" in found.note


def test_gravity_on_a_robot_that_it_does_no_work_on_comes_with_a_tilt():
    reacher = load_task("reacher").robot_model.model
    found = calibrate_family(family("gravity"), reacher, lambda gap: 1 - dict(gap.settings)["gravity"] / 3)
    assert found.rungs[0].gap.startswith("tilt=90,gravity=1.5")


def test_every_family_fits_a_walker(model):
    for one in FAMILIES:
        assert calibrate_family(one, model, lambda _gap: 0.5).rungs, one.name


def test_scores_are_of_the_same_starts_and_are_the_policys_own_without_a_gap():
    task = load_task("reacher")
    score = scorer(task, source_policy(task, None), episodes=4, seed=0)
    none, tilted = (family("gravity").ways[2].at(amount, task.robot_model.model) for amount in (0.0, 0.5))
    assert score(none) == pytest.approx(1.0, abs=1e-9)
    assert score(tilted) == score(tilted) < 1.0


def test_a_link_is_needed_for_a_dial_of_a_link():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='a'><joint name='j'/><geom size='.1'/></body></worldbody>"
        "<actuator><motor joint='j' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>"
    )
    with pytest.raises(Problem, match="fits no link"):
        family("mass of a link").ways[0].at(0.5, model)
