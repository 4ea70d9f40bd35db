"""Inputs that a policy has never seen vary."""

import dataclasses

import numpy as np
import pytest

from isthmus.evaluate.preflight.inputs import held_inputs
from isthmus.experts import load_expert
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task

TASK = load_task("humanoid")
EXPERT = load_expert(TASK)
FORCES = [i for i, name in enumerate(TASK.robot_model.spec.observation_names) if "contact force" in name]


@pytest.fixture(scope="module")
def unmasked():
    """A policy with arbitrary weights on contact forces, and a normaliser that has seen none."""
    network = EXPERT.network
    weight, scale, mean = network.weights[0].copy(), network.input_scale.copy(), network.input_mean.copy()
    weight[FORCES] = np.random.default_rng(0).normal(size=weight[FORCES].shape)
    scale[FORCES], mean[FORCES] = 1e-4, 0.0
    changed = dataclasses.replace(
        network, weights=(weight, *network.weights[1:]), input_scale=scale, input_mean=mean, input_clip=10.0
    )
    return dataclasses.replace(EXPERT, network=changed)


def test_kinds_of_derived_numbers_are_held_by_name():
    told = dict(held_inputs(TASK, EXPERT))
    assert set(told) == {
        "140 inputs of the kind 'inertia'",
        "84 inputs of the kind 'com velocity'",
        "23 inputs of the kind 'actuator force'",
        "84 inputs of the kind 'contact force'",
    }


def test_what_a_normaliser_has_never_seen_vary_is_held(unmasked):
    assert "inputs 292, 293, 294 and 81 more" in dict(held_inputs(TASK, unmasked))


def test_a_policy_with_unmasked_inputs_is_brought_back_by_holding_them(unmasked):
    from isthmus.core import stream
    from isthmus.evaluate import evaluate

    def steps(policy):
        spec = dataclasses.replace(TASK.robot_model.spec, horizon=150)
        task = dataclasses.replace(TASK, robot_model=dataclasses.replace(TASK.robot_model, spec=spec))
        return evaluate(task, task.source(4), policy, 1, stream(0, "check")).lengths.mean()

    told = dict(held_inputs(TASK, unmasked.__call__))  # its network is out of sight
    assert steps(unmasked) < 100
    assert steps(told["84 inputs of the kind 'contact force'"]) > 140
    assert steps(told["84 inputs of the kind 'com velocity'"]) < 100


def test_what_a_policy_does_not_look_at_is_not_held():
    assert list(held_inputs(load_task("hopper"), load_expert(load_task("hopper")))) == []


def test_a_robot_that_observes_its_state_alone_has_none_to_hold():
    reacher = load_task("reacher")
    assert list(held_inputs(reacher, ZeroPolicy(2))) == []
