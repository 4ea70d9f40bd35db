"""Recurrent ONNX policies: which input is the memory, and how it is carried from step to step."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from isthmus.core import History, Problem, act, initial_state
from isthmus.core.policy_state import reset_rows
from isthmus.policies import View, load_policy
from isthmus.policies.onnx_memory import Tensor, find_memory

_spec = importlib.util.spec_from_file_location("recurrent", Path(__file__).parent / "recurrent.py")
recurrent = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recurrent)

RNG = np.random.default_rng(3)
WEIGHTS = [RNG.normal(size=size) / 2 for size in ((4, 5), (5, 5), (5, 2))]
SEEN = RNG.normal(size=(6, 3, 4))
"""Observations of three robots over six steps."""


@pytest.fixture
def load(tmp_path, make_spec):
    def load(content, obs=4, act=2):
        (tmp_path / "policy.onnx").write_bytes(content)
        return load_policy(tmp_path / "policy.onnx", (View("v4", obs),), make_spec(obs, act))

    return load


def expected():
    """Actions (steps, n, act) of the recurrence, in NumPy."""
    into, back, out = WEIGHTS
    hidden, actions = np.zeros((3, 5)), []
    for seen in SEEN:
        hidden = np.tanh(seen @ into + hidden @ back)
        actions.append(hidden @ out)
    return np.stack(actions)


def run(policy):
    state, actions = initial_state(policy, 3), []
    for seen in SEEN:
        given, state = act(policy, History.of(seen), state)
        actions.append(given)
    return np.stack(actions)


@pytest.mark.parametrize(
    ("names", "layers", "batch"),
    [
        (("obs", "h_in", "actions", "h_out"), 1, 1),
        (("x", "state", "a", "next_state"), 0, "batch"),
        (("obs", "hidden", "mu", "rnn"), 1, "batch"),
    ],
    ids=["rsl_rl", "next", "by shape"],
)
def test_the_hidden_state_is_carried_from_step_to_step(load, names, layers, batch):
    policy = load(recurrent.elman(WEIGHTS, batch=batch, names=names, layers=layers))
    np.testing.assert_allclose(run(policy), expected(), atol=1e-5)


def test_a_robot_that_begins_an_episode_has_forgotten(load):
    policy = load(recurrent.elman(WEIGHTS))
    first = initial_state(policy, 3)
    _, state = act(policy, History.of(SEEN[0]), first)
    state = reset_rows(state, first, np.array([False, True, False]))
    actions, _ = act(policy, History.of(SEEN[0]), state)
    begun, _ = act(policy, History.of(SEEN[0]), first)
    np.testing.assert_allclose(actions[1], begun[1], atol=1e-6)
    assert np.abs(actions[[0, 2]] - begun[[0, 2]]).max() > 0.01


def test_two_memories_of_one_shape_are_told_apart_by_their_names(load):
    policy = load(recurrent.two_memories(("h_in", "c_in"), ("h_out", "c_out")), obs=3, act=3)
    state, actions = initial_state(policy, 3), []
    for seen in SEEN[..., :3]:
        given, state = act(policy, History.of(seen), state)
        actions.append(given)
    np.testing.assert_allclose(actions[4], SEEN[2:5, :, :3].sum(axis=0), atol=1e-5)


def test_memories_that_could_be_either_are_refused_in_one_sentence(load):
    with pytest.raises(
        Problem, match=r"not clear which of its inputs \(obs batchx3, m batchx3, k .* as h_in and h_out"
    ):
        load(recurrent.two_memories(("m", "k"), ("p", "q")), obs=3, act=3)


def test_an_input_that_nothing_feeds_is_refused():
    taken = [Tensor("obs", (1, 8), "tensor(float)"), Tensor("time_step", (1, 1), "tensor(float)")]
    with pytest.raises(Exception, match=r"which of its inputs \(obs 1x8, time_step 1x1\)"):
        find_memory(taken, [Tensor("actions", (1, 3), "tensor(float)")])


@pytest.mark.parametrize(
    ("taken", "given"), [("h_in", "h_out"), ("hidden_state", "next_hidden_state"), ("h0", "hn"), ("c.in", "c.out")]
)
def test_names_that_belong_together_have_one_stem(taken, given):
    assert Tensor(taken, (), "").stem == Tensor(given, (), "").stem != ""
