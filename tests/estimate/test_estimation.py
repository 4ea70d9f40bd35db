"""The estimation of a run: which filter stands before its target, and what of it is kept."""

import numpy as np
import pytest

from isthmus.core import stream
from isthmus.estimate.course import course_of
from isthmus.estimate.ensemble import EnsembleFilter
from isthmus.estimate.estimation import Estimation
from isthmus.estimate.filter import Shown
from isthmus.estimate.kalman import KalmanFilter
from isthmus.estimate.policy import EstimatedPolicy
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.sysid.physics import Physics
from isthmus.transfer.source.source import _is_enough

TASK = load_task("reacher")
BODY = TASK.robot_model
SIZE = BODY.spec.observation_size


@pytest.fixture(scope="module")
def course():
    return course_of(ZeroPolicy(2), TASK.source(4), stream(0, "course"))


def learned(course, kind="kalman", **about):
    """An estimation that has found noise."""
    one = Estimation(kind, BODY, np.arange(SIZE), course)
    numbers = {"noise": 0.1 * course.scale, "bias": np.zeros(SIZE), "process": 0.1 * course.scale}
    arrays = numbers | {"z": np.zeros(Physics(BODY).size)}
    one.take(arrays, {"learned_from": 500, "exact": False, "chosen": kind, "nll": 0.0, "delay": 0} | about)
    return one


@pytest.mark.parametrize(("kind", "made"), [("kalman", KalmanFilter), ("ensemble", EnsembleFilter)])
def test_the_filter_that_was_asked_for_stands_before_a_policy(course, kind, made):
    one = learned(course, kind)
    assert isinstance(one.filter, made)
    assert isinstance(one.behind(ZeroPolicy(2), 1), EstimatedPolicy)
    with one.unused():
        assert isinstance(one.filter, Shown)


def test_a_policy_that_does_as_well_without_is_shown_the_sensors_and_methods_still_learn_from_estimates(course):
    one, policy = learned(course), ZeroPolicy(2)
    one.use(False)
    assert isinstance(one.filter, Shown)
    assert one.behind(policy, 1) is policy
    assert one.corrects
    assert one.sensing is not None


def test_whether_the_filter_is_used_is_kept(tmp_path, course):
    one = learned(course)
    one.use(False)
    one.save(tmp_path / "one.npz")
    again = learned(course)
    again.restore(tmp_path / "one.npz")
    assert not again.active
    one.use(True)
    one.save(tmp_path / "one.npz")
    again.restore(tmp_path / "one.npz")
    assert again.active


def test_exact_sensors_need_no_filter_and_no_noise_in_rehearsals(course):
    one = learned(course, exact=True)
    assert not one.corrects
    assert one.sensing is None
    assert isinstance(one.filter, Shown)


def scores(mean):
    return mean + 0.1 * np.random.default_rng(0).standard_normal(8)


@pytest.mark.parametrize(
    ("raw", "filtered", "enough"),
    [(99.9, 99.9, True), (90.0, 99.0, False), (50.0, 50.0, False), (60.0, 40.0, True)],
)
def test_a_policy_does_without_a_filter_where_it_loses_nothing_or_does_better(raw, filtered, enough):
    noisy = scores(raw) + 0.2 * np.random.default_rng(1).standard_normal(8)
    assert _is_enough(noisy, scores(filtered), scores(100.0), np.zeros(8)) == enough
