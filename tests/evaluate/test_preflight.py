"""Each usual mistake, made on purpose, is found."""

import dataclasses

import numpy as np
import pytest

from isthmus.evaluate.preflight import preflight
from isthmus.experts import load_expert
from isthmus.tasks import load_task

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
