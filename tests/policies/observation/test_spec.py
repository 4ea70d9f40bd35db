"""What a policy is shown by an observation spec, and what its actions mean."""

import dataclasses

import numpy as np
import pytest

from isthmus.core import History, Problem, act, initial_state
from isthmus.policies.observation import PRESETS, Body, SpecPolicy, edited, parse_spec, read_spec
from isthmus.policies.observation.body import into_frame
from isthmus.policies.observation.read import as_document

JOINTS = ("hip", "knee")
"""Of a toy robot on a free base: observed are its positions, velocities and a command."""
NQ, NV = 9, 8


@pytest.fixture
def body(make_spec):
    names = (*(f"q{i}" for i in range(NQ)), *(f"v{i}" for i in range(NV)), "command")
    spec = dataclasses.replace(make_spec(len(names), 2), observation_names=names, horizon=50)
    return Body(
        spec=spec,
        state=lambda seen: (seen[:, :NQ], seen[:, NQ : NQ + NV]),
        joints={"hip": (7, 6), "knee": (8, 7)},
        actuators={"hip": 0, "knee": 1},
        base=(0, 0),
        poses={"reference": np.zeros(NQ), "home": np.arange(NQ) / 10},
    )


class Echo:
    """A network that keeps what it is shown, and gives known actions."""

    def __init__(self):
        self.shown = []

    def __call__(self, history):
        self.shown.append(history.current.copy())
        return np.tile([0.5, -1.0], (len(history.current), 1)) * len(self.shown)


def observed(rng, n=3):
    seen = rng.normal(size=(n, NQ + NV + 1))
    seen[:, 3:7] /= np.linalg.norm(seen[:, 3:7], axis=1, keepdims=True)
    return seen


def first_shown(body, document, seen):
    network = Echo()
    commands, _ = act(SpecPolicy(parse_spec(document), body, network), History.of(seen))
    return network.shown[0], commands


def test_terms_follow_in_order_with_offset_scale_and_clip(body, rng):
    seen = observed(rng)
    document = {
        "terms": ["joint_vel", "joint_pos", "command"],
        "default_pose": "home",
        "term": {"joint_vel": {"scale": 0.05}, "joint_pos": {"offset": 0.1, "scale": 2.0, "clip": 0.5}},
    }
    shown, _ = first_shown(body, document, seen)
    positions = np.clip(2 * (seen[:, 7:9] - [0.7, 0.8] - 0.1), -0.5, 0.5)
    command = np.concatenate([seen[:, -1:], np.zeros((3, 2))], axis=1)
    np.testing.assert_allclose(shown, np.concatenate([0.05 * seen[:, 15:17], positions, command], axis=1))


def test_joints_are_shown_and_commanded_in_the_order_of_their_names(body, rng):
    seen = observed(rng)
    document = {
        "terms": ["joint_pos"],
        "joints": ["knee", "hip"],
        "default_pose": [0.2, -0.3],
        "actions": {"scale": 0.5, "offset": "default_pose"},
    }
    shown, commands = first_shown(body, document, seen)
    np.testing.assert_allclose(shown, seen[:, [8, 7]] - [0.2, -0.3])
    np.testing.assert_allclose(commands[0], [0.5 * -1.0 - 0.3, 0.5 * 0.5 + 0.2])


def test_velocities_and_gravity_are_in_the_frame_of_the_base(body, rng):
    seen = observed(rng)
    shown, _ = first_shown(body, {"terms": ["base_lin_vel", "base_ang_vel", "projected_gravity"]}, seen)
    turn = seen[:, 3:7]
    np.testing.assert_allclose(shown[:, :3], into_frame(turn, seen[:, NQ : NQ + 3]))
    np.testing.assert_allclose(shown[:, 3:6], seen[:, NQ + 3 : NQ + 6])
    np.testing.assert_allclose(shown[:, 6:], into_frame(turn, np.array([0.0, 0.0, -1.0])))
    np.testing.assert_allclose(np.linalg.norm(shown[:, 6:], axis=1), 1.0)
    upside_down = seen.copy()
    upside_down[:, 3:7] = (0.0, 1.0, 0.0, 0.0)
    shown, _ = first_shown(body, {"terms": ["projected_gravity"]}, upside_down)
    np.testing.assert_allclose(shown, np.tile([0.0, 0.0, 1.0], (3, 1)), atol=1e-12)


def test_the_last_action_is_that_of_the_step_before_and_zero_at_first(body, rng):
    network = Echo()
    document = {
        "terms": ["last_action", "older", "asked"],
        "term": {"older": {"kind": "last_action", "lag": 2}, "asked": {"kind": "last_action", "of": "command"}},
        "actions": {"scale": 0.1},
    }
    policy = SpecPolicy(parse_spec(document), body, network)
    state = initial_state(policy, 3)
    for _ in range(3):
        _, state = act(policy, History.of(observed(rng)), state)
    gives = np.array([0.5, -1.0])
    np.testing.assert_allclose(network.shown[0], 0.0)
    np.testing.assert_allclose(network.shown[2][0], [*(2 * gives), *gives, *(0.2 * gives)])


def test_a_phase_is_the_sine_and_cosine_of_the_time_since_the_start(body, rng):
    network = Echo()
    policy = SpecPolicy(
        parse_spec({"terms": ["phase"], "term": {"phase": {"period": 0.7, "shifts": [0.0, 0.5]}}}), body, network
    )
    state = initial_state(policy, 3)
    for _ in range(2):
        _, state = act(policy, History.of(observed(rng)), state)
    angle = 2 * np.pi * body.spec.control_period / 0.7
    np.testing.assert_allclose(network.shown[1][0], [np.sin(angle), -np.sin(angle), np.cos(angle), -np.cos(angle)])


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ({"by": "frame", "fill": "zero"}, [[0, 0, 0, 0, "a1", "b1"], ["a1", "b1", "a2", "b2", "a3", "b3"]]),
        ({"by": "term"}, [["a1", "a1", "a1", "b1", "b1", "b1"], ["a1", "a2", "a3", "b1", "b2", "b3"]]),
        (
            {"by": "frame", "order": "newest first"},
            [["a1", "b1", "a1", "b1", "a1", "b1"], ["a3", "b3", "a2", "b2", "a1", "b1"]],
        ),
    ],
    ids=["legged_gym", "isaac lab", "newest first"],
)
def test_frames_are_stacked_by_frame_or_by_term(body, rng, stack, expected):
    network = Echo()
    document = {
        "terms": ["a", "b"],
        "term": {"a": {"kind": "observation", "from": ["q0"]}, "b": {"kind": "observation", "from": ["v0"]}},
        "stack": {"frames": 3, **stack},
    }
    policy = SpecPolicy(parse_spec(document), body, network)
    state, known = initial_state(policy, 3), {0: 0.0}
    for step in range(1, 4):
        seen = observed(rng)
        known |= {f"a{step}": seen[0, 0], f"b{step}": seen[0, NQ]}
        _, state = act(policy, History.of(seen), state)
    np.testing.assert_allclose(network.shown[0][0], [known[one] for one in expected[0]])
    np.testing.assert_allclose(network.shown[2][0], [known[one] for one in expected[1]])


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_fits_a_robot_and_survives_being_written(body, rng, preset):
    spec = read_spec(preset)
    assert parse_spec(as_document(spec)) == spec
    shown, _ = first_shown(body, {"preset": preset}, observed(rng))
    blind = preset.endswith("blind")
    assert shown.shape == (3, (0 if blind else 3) + 3 + 3 + 3 + 2 + 2 + 2)


def test_a_file_changes_a_preset_and_an_edit_changes_the_file(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('preset = "legged-gym"\nclip = 5\n[term.joint_vel]\nclip = 1.5\n')
    spec = read_spec(str(path), ["term.joint_vel.scale=0.1", "stack.order=newest first"])
    [velocities] = [term for term in spec.terms if term.name == "joint_vel"]
    assert (velocities.scale, velocities.clip, spec.clip, spec.stack.order) == (0.1, (-1.5, 1.5), 5.0, "newest first")
    (tmp_path / "spec.json").write_text('{"preset": "mjlab", "joints": ["knee", "hip"]}')
    assert read_spec(str(tmp_path / "spec.json")).joints == ("knee", "hip")
    assert edited(spec, "clip=7").clip == 7.0


WRONG = {
    "unknown term": ({"terms": ["joint_poss"]}, "joint_poss"),
    "no terms": ({"terms": []}, "needs terms"),
    "unknown joint": ({"terms": ["joint_pos"], "joints": ["hip", "ankle"]}, "ankle"),
    "joint twice": ({"terms": ["joint_pos"], "joints": ["hip", "hip"]}, "named twice"),
    "unknown joint of a term": ({"terms": ["joint_pos"], "term": {"joint_pos": {"joints": ["toe"]}}}, "toe"),
    "unknown pose": ({"terms": ["joint_pos"], "default_pose": "crouch"}, "crouch"),
    "pose without a joint": ({"terms": ["joint_pos"], "default_pose": {"hip": 0.1}}, "knee"),
    "stack longer than an episode": ({"terms": ["joint_pos"], "stack": {"frames": 51}}, "longer than the history"),
    "stack of nothing": ({"terms": ["joint_pos"], "stack": {"frames": 0}}, "frames"),
    "scale of another size": ({"terms": ["joint_pos"], "term": {"joint_pos": {"scale": [1, 2, 3]}}}, "2 numbers"),
    "scale that is no number": ({"terms": ["joint_pos"], "term": {"joint_pos": {"scale": "big"}}}, "finite number"),
    "option of another term": ({"terms": ["joint_vel"], "term": {"joint_vel": {"lag": 2}}}, "lag"),
    "phase without a period": ({"terms": ["phase"]}, "period"),
    "unknown preset": ({"preset": "isaac"}, "isaac"),
    "unknown key": ({"terms": ["joint_pos"], "stak": {}}, "stak"),
    "unknown observation": ({"terms": ["command"], "term": {"command": {"from": ["speed"]}}}, "speed"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_spec_is_refused_in_one_sentence(body, case):
    document, said = WRONG[case]
    with pytest.raises(Problem) as refused:
        _ = SpecPolicy(parse_spec(document), body, Echo()).shown
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", ["terms = [", "\xff", "terms = 3", "a" * 10 + "=" + "[" * 3000])
def test_a_file_that_is_no_spec_is_refused(tmp_path, content):
    for suffix in ("toml", "json"):
        path = tmp_path / f"spec.{suffix}"
        path.write_text(content, "latin-1")
        with pytest.raises(Problem):
            read_spec(str(path))
