import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import History, Problem
from isthmus.io import load_arrays, save_arrays
from isthmus.policies import NetworkPolicy, View, ZeroPolicy, load_policy
from isthmus.policies.network import Squash

SEEDS = st.integers(0, 2**32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("policies")


@pytest.fixture(scope="module")
def load(make_spec):
    """Load a policy for a robot with so many observations and actuators."""

    def load(path, inputs=4, outputs=2):
        return load_policy(path, (View("v4", inputs),), make_spec(inputs, outputs))

    return load


@pytest.fixture(scope="module")
def whole(folder, random_mlp):
    path = folder / "whole.npz"
    NetworkPolicy(random_mlp((4, 3, 2), np.random.default_rng(0), "tanh", 10.0)).save(path)
    return path


@given(st.integers(1, 6), st.lists(st.integers(1, 6), max_size=2), st.integers(1, 4), SEEDS, st.booleans())
def test_a_policy_comes_back_exactly(load, folder, random_mlp, inputs, hidden, outputs, seed, clipped):
    rng = np.random.default_rng(seed)
    sizes = (inputs, *hidden, outputs)
    policy = NetworkPolicy(random_mlp(sizes, rng, "tanh" if clipped else "relu", 5.0 if clipped else np.inf))
    policy.save(folder / "policy.npz")
    again = load(folder / "policy.npz", inputs, outputs)
    history = History.of(rng.normal(size=(3, inputs)))
    np.testing.assert_array_equal(again(history), policy(history))
    assert again.network.activation == policy.network.activation


def test_it_acts_on_the_latest_observation_alone(random_mlp, rng):
    policy = NetworkPolicy(random_mlp((4, 8, 2), rng))
    history = History(rng.normal(size=(3, 3, 4)), rng.normal(size=(3, 2, 2)))
    np.testing.assert_array_equal(policy(history), policy(History.of(history.current)))
    np.testing.assert_array_equal(policy(history), policy.network(history.current))


def test_it_acts_on_what_it_is_shown(random_mlp, rng):
    network = random_mlp((2, 8, 2), rng)
    policy = NetworkPolicy(network, see=lambda observations: observations[:, 2:])
    observations = rng.normal(size=(3, 4))
    np.testing.assert_array_equal(policy(History.of(observations)), network(observations[:, 2:]))


def test_a_squashed_policy_stays_within_its_limits_and_reaches_for_them(random_mlp, rng):
    network, low, high = random_mlp((4, 8, 2), rng), np.array([-1.0, 0.0]), np.array([1.0, 3.0])
    history = History.of(rng.normal(scale=100, size=(50, 4)))
    commands = NetworkPolicy(network, squash=Squash(low, high))(history)
    assert (commands >= low).all()
    assert (commands <= high).all()
    share = (np.tanh(network(history.current)) + 1) / 2
    np.testing.assert_allclose((commands - low) / (high - low), share, atol=1e-12)


def test_its_commands_are_not_clipped(random_mlp, rng):
    policy = NetworkPolicy(random_mlp((4, 8, 2), rng))
    assert np.abs(policy(History.of(rng.normal(scale=100, size=(20, 4))))).max() > 10


@pytest.mark.parametrize("sizes", [(5, 2), (3, 2), (4, 1), (4, 3), (2, 4)])
def test_a_policy_for_another_robot_is_refused_with_both_sizes(load, whole, sizes):
    inputs, outputs = sizes
    with pytest.raises(Problem) as caught:
        load(whole, inputs, outputs)
    text = str(caught.value)
    assert str(whole) in text
    if inputs != 4:
        assert re.search(rf"takes 4 numbers, .* {inputs} \(v4\)", text)
    else:
        assert re.search(rf"gives 2 actions, .* {outputs} actuators", text)


class Booby:
    def __init__(self, trap):
        self.trap = trap

    def __reduce__(self):
        return os.mkdir, (self.trap,)


def test_code_in_a_policy_is_never_run(load, whole, tmp_path):
    arrays, _ = load_arrays(whole, "policy")
    trap, path = tmp_path / "trap", tmp_path / "policy.npz"
    arrays["bias_0"] = np.array([Booby(str(trap))] * 3, dtype=object)
    with path.open("wb") as file:
        np.savez(file, meta=np.array('{"activation": "relu"}'), **arrays)
    with pytest.raises(Problem, match="is not a policy file"):
        load(path)
    assert not trap.exists()


def test_a_policy_that_is_not_there_is_a_problem(load, tmp_path):
    with pytest.raises(Problem, match=r"there is no policy at .*none\.npz"):
        load(tmp_path / "none.npz")


@given(st.floats(0, 1, exclude_max=True))
def test_a_policy_cut_short_is_a_problem(load, folder, whole, where):
    content, path = whole.read_bytes(), folder / "short.npz"
    path.write_bytes(content[: int(where * len(content))])
    with pytest.raises(Problem, match=r"short\.npz is not a policy file"):
        load(path)


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3))
def test_changed_bytes_are_a_problem_or_change_nothing(load, folder, whole, changes):
    content, path = bytearray(whole.read_bytes()), folder / "changed.npz"
    for where, change in changes:
        content[int(where * len(content))] ^= change
    path.write_bytes(bytes(content))
    try:
        again = load(path)
    except Problem as problem:
        assert str(path) in str(problem)  # noqa: PT017 - both outcomes are right
    else:
        for name, array in load(whole).network.arrays().items():
            np.testing.assert_array_equal(again.network.arrays()[name], array)


CHANGES = {
    "text": lambda array: np.full(array.shape, "x"),
    "not finite": lambda array: np.full(array.shape, np.nan),
    "no number": lambda array: array.ravel()[:0],
    "deep": lambda _array: np.zeros((2, 2, 2)),
}
NAMES = ("weight_0", "weight_1", "bias_0", "bias_1", "input_mean", "input_scale", "output_mean", "output_scale")
WRONG = [(name, change) for name in NAMES for change in CHANGES] + [("input_clip", "text"), ("input_clip", "deep")]


@pytest.mark.parametrize(("name", "change"), WRONG)
def test_arrays_that_are_no_network_are_a_problem(load, folder, whole, name, change):
    arrays, meta = load_arrays(whole, "policy")
    path = folder / "wrong.npz"
    save_arrays(path, {**arrays, name: CHANGES[change](arrays[name])}, meta)
    with pytest.raises(Problem, match=r"wrong\.npz is not a policy file, or it is damaged"):
        load(path)


@pytest.mark.parametrize("meta", [{}, {"activation": "sigmoid"}, {"activation": None}, {"activation": ["relu"]}])
def test_a_description_that_does_not_name_the_network_is_a_problem(load, folder, whole, meta):
    path = folder / "wrong.npz"
    save_arrays(path, load_arrays(whole, "policy")[0], meta)
    with pytest.raises(Problem, match=r"wrong\.npz is not a policy file"):
        load(path)


def test_a_file_of_another_kind_is_a_problem(load, folder):
    path = folder / "episode.npz"
    save_arrays(path, {"observations": np.zeros((3, 4)), "lengths": np.array([2])}, {"kind": "episode"})
    with pytest.raises(Problem, match=r"episode\.npz is not a policy file"):
        load(path)


def test_the_zero_policy_does_nothing(rng):
    history = History(rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 1, 2)))
    np.testing.assert_array_equal(ZeroPolicy(2)(history), np.zeros((3, 2)))
