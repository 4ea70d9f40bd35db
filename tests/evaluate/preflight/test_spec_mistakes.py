"""Each usual mistake with an observation spec, made on purpose, is found, and its remedy is an edit of the spec."""

import json
import shlex

import numpy as np
import pytest

from isthmus.core import History
from isthmus.evaluate.preflight import preflight
from isthmus.evaluate.preflight.spec_mistakes import spec_mistakes
from isthmus.experts import load_expert
from isthmus.policies.observation import SpecPolicy, parse_spec
from isthmus.robots import load_task
from isthmus.tasks.policy_body import policy_body

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
POSE = np.array([1.6, -1.4])
DOCUMENT = {
    "terms": ["goal", "joint_pos", "joint_vel", "tip"],
    "default_pose": {"joint0": 1.6, "joint1": -1.4},
    "term": {
        "goal": {"kind": "observation", "from": ["target x", "target y"]},
        "tip": {"kind": "observation", "from": [f"fingertip - target {axis}" for axis in "xyz"]},
    },
}


def network(history):
    """The expert of Reacher, for one who shows it angles relative to a pose."""
    goal, angles, velocities, tip = np.split(history.current, [2, 4, 6], axis=1)
    at = angles + POSE
    return EXPERT(History.of(np.concatenate([np.cos(at), np.sin(at), goal, velocities, tip], axis=1)))


def policy(*edits, **changes):
    return SpecPolicy(parse_spec(DOCUMENT | changes, edits), policy_body(TASK.robot_model), network)


def check(made):
    return preflight(TASK, made, bare=None, expected=-4.5, episodes=20, seed=0)


def test_a_sound_spec_is_let_through():
    assert check(policy()).as_expected


@pytest.mark.parametrize(
    ("wrong", "culprit", "edit"),
    [
        ("term.joint_vel.scale=0.05", "scale of term 'joint_vel'", "term.joint_vel.scale=1.0"),
        (
            "terms=['joint_pos', 'goal', 'joint_vel', 'tip']",
            "order of the terms",
            f"terms={json.dumps(DOCUMENT['terms'])}",
        ),
        ("term.joint_pos.relative=false", "missing default pose", "term.joint_pos.relative=true"),
        ("joints=['joint1', 'joint0']", "order of the joints", 'joints=["joint0", "joint1"]'),
    ],
    ids=["scale", "term order", "default pose", "joint order"],
)
def test_a_mistake_in_a_spec_is_found_with_the_edit_that_undoes_it(wrong, culprit, edit):
    found = check(policy(wrong))
    assert not found.as_expected
    assert found.culprit is not None
    assert found.culprit.culprit == culprit
    assert found.culprit.spec_edits == (edit,)
    assert shlex.split(found.culprit.remedy)[-1] == edit  # as a shell reads it


def test_every_usual_mistake_is_among_those_that_are_tried():
    tried = {
        "stale action": "term.last_action.lag=1",
        "legged_gym's scale": "term.joint_vel.scale=0.05",
        "missing default pose": "term.joint_pos.relative=true",
        "offset of actions": "actions.offset=default_pose",
        "stack": "stack.order=newest first",
        "one joint's sign": "actions.scale=[1.0, -1.0]",
    }
    made = policy(
        terms=["joint_pos", "joint_vel", "last_action"],
        term={"last_action": {"lag": 2}, "joint_pos": {"relative": False}},
        stack={"frames": 2},
    )
    assert set(tried.values()) <= {edit for one in spec_mistakes(made) for edit in one.edits}
