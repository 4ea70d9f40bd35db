"""Each usual mistake, made on purpose, is found."""

import dataclasses

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.evaluate.preflight import preflight
from isthmus.experts import load_expert
from isthmus.robots import load_task

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
NETWORK = EXPERT.network


def mistaken(**changes):
    return dataclasses.replace(EXPERT, network=dataclasses.replace(NETWORK, **changes))


def swapped():
    *inner, last = NETWORK.weights
    *biases, last_bias = NETWORK.biases
    return mistaken(weights=(*inner, last[:, ::-1].copy()), biases=(*biases, last_bias[::-1].copy()))


def check(policy, *, expected=-4.5):
    return preflight(TASK, policy, bare=policy, expected=expected, episodes=20, seed=0)


@pytest.mark.parametrize(
    ("policy", "culprit", "remedy"),
    [
        (mistaken(output_scale=np.array([1.0, -1.0])), "sign", "joint1"),
        (mistaken(output_scale=np.array([-1.0, -1.0])), "sign", "joint0, joint1"),
        (swapped(), "joint order", "joint1, joint0"),
        (mistaken(output_scale=np.array([0.1, 0.1])), "action scale", "10"),
        (mistaken(output_scale=np.array([4.0, 4.0])), "action scale", "0.25"),
        (mistaken(input_mean=np.zeros(11), input_scale=np.ones(11)), "missing normaliser", "--normaliser"),
    ],
    ids=["one sign", "all signs", "order", "too weak", "too strong", "normaliser"],
)
def test_a_mistake_is_found_and_its_remedy_named(policy, culprit, remedy):
    found = check(policy)
    assert not found.as_expected
    assert found.culprit is not None
    assert found.culprit.culprit == culprit
    assert remedy in found.culprit.remedy


def test_a_sound_policy_is_let_through():
    found = check(EXPERT)
    assert found.as_expected
    assert found.culprit is None
    assert found.suspects == ()


def test_a_claim_that_nothing_explains_is_said_to_be_so():
    found = check(EXPERT, expected=-0.5)
    assert not found.as_expected
    assert found.culprit is None


def test_without_a_claim_doing_something_is_enough():
    assert check(EXPERT, expected=None).as_expected


def test_a_policy_far_below_the_expert_is_not_let_through():
    lazy = mistaken(output_scale=np.array([0.02, 0.02]))
    found = preflight(TASK, lazy, bare=lazy, expected=None, reference=-4.6, episodes=8, seed=0)
    assert not found.as_expected
    assert found.culprit is not None
    assert found.culprit.culprit == "action scale"


def test_a_policy_that_falls_at_once_is_not_let_through():
    hopper = load_task("hopper")

    def jump(history):
        return np.tile([1.0, -1.0, 1.0], (len(history.current), 1))

    found = preflight(hopper, jump, bare=None, expected=None, episodes=4, seed=0)
    [lasts] = [check for check in found.checks if check.name == "episodes last"]
    assert not lasts.passed
    assert "of 1000 steps" in lasts.measured
    assert not found.as_expected


def test_two_mistakes_at_once_have_no_single_culprit():
    hopper = load_task("hopper")
    expert = load_expert(hopper)

    def twice_wrong(history):
        return expert(history)[:, ::-1] * -10

    found = preflight(hopper, twice_wrong, bare=None, expected=3470.0, episodes=4, seed=0)
    assert not found.as_expected
    assert found.suspects
    assert found.culprit is None


def test_a_recorded_normaliser_is_the_culprit_where_nothing_else_restores_the_return():
    hopper = load_task("hopper")
    expert = load_expert(hopper)
    bare = dataclasses.replace(
        expert, network=dataclasses.replace(expert.network, input_mean=np.zeros(11), input_scale=np.ones(11))
    )
    found = preflight(hopper, bare, bare=bare, expected=3470.0, episodes=2, seed=0, recorded=True)
    assert found.culprit is not None
    assert found.culprit.culprit == "missing normaliser"
    assert dataclasses.replace(found, recorded=False).culprit is None


def test_a_robot_that_is_wrong_is_blamed_before_its_policy():
    def forgets(observations, qpos, qvel):
        TASK.robot_model.restore(observations, qpos, qvel)
        qvel[:] = 0

    task = dataclasses.replace(TASK, robot_model=dataclasses.replace(TASK.robot_model, restore=forgets))
    found = preflight(task, EXPERT, bare=None, expected=-0.5, episodes=4, seed=0)
    assert not found.as_expected
    assert found.suspects == ()


def test_a_robot_that_cannot_be_run_is_one_sentence():
    def crash(before, commands, after):
        raise IndexError("axis 7")

    task = dataclasses.replace(TASK, score=crash)
    with pytest.raises(Problem, match=r"reacher cannot be run \(n robots together .*axis 7"):
        preflight(task, EXPERT, bare=None, expected=None, episodes=4, seed=0)
