"""Each usual mistake with an observation spec, made on purpose, is found, and its remedy is an edit of the spec."""

import dataclasses

import pytest

from isthmus.core import stream
from isthmus.evaluate.evaluation import evaluate
from isthmus.evaluate.preflight import preflight
from isthmus.evaluate.preflight.spec_mistakes import spec_mistakes
from isthmus.experts import load_expert
from isthmus.policies.observation import SpecPolicy, parse_spec
from isthmus.policies.view import whole
from isthmus.robots import load_task
from isthmus.tasks.policy_body import policy_body

HOPPER = load_task("hopper")
SHORT = dataclasses.replace(HOPPER.robot_model.spec, horizon=120)
TASK = dataclasses.replace(HOPPER, robot_model=dataclasses.replace(HOPPER.robot_model, spec=SHORT))
NAMES = TASK.robot_model.spec.observation_names
POSE = {"thigh_joint": 0.2, "leg_joint": -0.3, "foot_joint": 0.4}
DOCUMENT = {
    "terms": ["base", "joint_pos", "spin", "joint_vel"],
    "term": {"base": {"kind": "observation", "from": NAMES[1:3]}, "spin": {"kind": "observation", "from": NAMES[6:9]}},
}
EXPECTED = float(evaluate(TASK, TASK.source(2), load_expert(HOPPER), 1, stream(0, "check")).returns.mean())


def policy(*edits, **changes):
    """The expert of Hopper, which is shown its usual observation by a spec."""
    network = dataclasses.replace(load_expert(TASK), see=whole)
    return SpecPolicy(parse_spec(DOCUMENT | changes, edits), policy_body(TASK.robot_model), network)


def check(wrong):
    return preflight(TASK, wrong, bare=None, expected=EXPECTED, episodes=2, seed=0)


def test_a_sound_spec_is_let_through():
    assert check(policy()).as_expected


@pytest.mark.parametrize(
    ("wrong", "culprit", "edits"),
    [
        (["term.joint_vel.scale=0.05"], "scale of term 'joint_vel'", ("term.joint_vel.scale=1.0",)),
        (["terms=['base', 'spin', 'joint_pos', 'joint_vel']"], "order of the terms", None),
        (["default_pose.thigh_joint=0.2", "default_pose.leg_joint=-0.3", "default_pose.foot_joint=0.4"], "pose", None),
        (["joints=['leg_joint', 'thigh_joint', 'foot_joint']"], "order of the joints", None),
    ],
    ids=["scale", "term order", "default pose", "joint order"],
)
def test_a_mistake_in_a_spec_is_found_with_the_edit_that_undoes_it(wrong, culprit, edits):
    made = policy(*(["default_pose={}"] if culprit == "pose" else []), *wrong)
    found = check(made)
    assert found.culprit is not None
    assert culprit in found.culprit.culprit
    assert edits is None or found.culprit.spec_edits == edits
    assert all(f"'{edit}'" in found.culprit.remedy for edit in found.culprit.spec_edits)
    assert found.culprit.gym_return > 0.9 * EXPECTED


def test_every_usual_mistake_is_among_those_that_are_tried():
    tried = {
        "stale action": "term.last_action.lag=1",
        "sign": "term.joint_vel.scale=-1.0",
        "legged_gym's scale": "term.joint_vel.scale=0.05",
        "missing default pose": "term.joint_pos.relative=true",
        "offset of actions": "actions.offset=default_pose",
        "stack": "stack.order=newest first",
        "one joint's sign": "actions.scale=[1.0, -1.0, 1.0]",
    }
    made = policy(
        terms=["joint_pos", "joint_vel", "last_action"],
        term={"last_action": {"lag": 2}, "joint_pos": {"relative": False}},
        stack={"frames": 2},
        default_pose=POSE,
    )
    edits = {edit for one in spec_mistakes(made) for edit in one.edits}
    assert set(tried.values()) <= edits
