import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.inverse_network import InverseNetwork
from isthmus.core import History, Problem
from isthmus.io import load_arrays, save_arrays

OBS, ACT = 4, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def make_inverse(random_mlp):
    def make(k, targets, seed=0):
        inputs = k * OBS + (k - 1) * ACT + len(targets)
        return InverseNetwork(random_mlp((inputs, 6, ACT), np.random.default_rng(seed)), k, targets)

    return make


@pytest.fixture(scope="module")
def whole(folder, make_inverse):
    path = folder / "whole.npz"
    make_inverse(1, np.array([0, 2])).state().write(path)
    return path


def question(k, rng, n=3):
    return History(rng.normal(size=(n, k, OBS)), rng.normal(size=(n, k - 1, ACT))), rng.normal(size=(n, OBS))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_network_is_asked_the_past_and_the_change_that_is_wanted(make_inverse, rng, k):
    targets = np.array([0, 3])
    inverse = make_inverse(k, targets)
    history, wanted = question(k, rng)
    rows = []
    for i in range(3):
        change = [wanted[i, target] - history.observations[i, -1, target] for target in targets]
        rows.append([*history.observations[i].ravel(), *history.actions[i].ravel(), *change])
    np.testing.assert_allclose(inverse(history, wanted), inverse.network(np.array(rows)), rtol=1e-5, atol=1e-5)


def test_what_is_not_a_target_may_be_anything(make_inverse, rng):
    inverse = make_inverse(2, np.array([0, 2]))
    history, wanted = question(2, rng)
    other = wanted.copy()
    other[:, [1, 3]] = 99.0
    np.testing.assert_array_equal(inverse(history, other), inverse(history, wanted))
    other[:, 0] += 1.0
    assert (inverse(history, other) != inverse(history, wanted)).any()


def test_a_window_shorter_than_its_history_is_refused(make_inverse, rng):
    history, wanted = question(1, rng)
    with pytest.raises(ValueError, match="cannot give the last 2"):
        make_inverse(2, np.arange(OBS))(history, wanted)


@given(st.integers(1, 3), st.lists(st.integers(0, OBS - 1), min_size=1, max_size=OBS, unique=True), st.integers(0, 99))
def test_a_model_comes_back_exactly(folder, make_inverse, k, targets, seed):
    targets = sorted(targets)
    inverse = make_inverse(k, np.array(targets), seed)
    inverse.state().write(folder / "model.npz")
    again = InverseNetwork.of_state(MethodState.read(folder / "model.npz", "inverse-model"))
    assert again.history == k
    np.testing.assert_array_equal(again.targets, targets)
    history, wanted = question(k, np.random.default_rng(seed))
    np.testing.assert_array_equal(again(history, wanted), inverse(history, wanted))


@given(st.floats(0, 1, exclude_max=True))
def test_a_model_cut_short_is_a_problem(folder, whole, where):
    content, path = whole.read_bytes(), folder / "short.npz"
    path.write_bytes(content[: int(where * len(content))])
    with pytest.raises(Problem, match=r"short\.npz is not an? inverse-model file"):
        InverseNetwork.of_state(MethodState.read(path, "inverse-model"))


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3))
def test_changed_bytes_are_a_problem_or_change_nothing(folder, whole, changes):
    content, path = bytearray(whole.read_bytes()), folder / "changed.npz"
    for where, change in changes:
        content[int(where * len(content))] ^= change
    path.write_bytes(bytes(content))
    try:
        again = InverseNetwork.of_state(MethodState.read(path, "inverse-model"))
    except Problem as problem:
        assert str(path) in str(problem)  # noqa: PT017 - both outcomes are right
    else:
        history, wanted = question(1, np.random.default_rng(0))
        np.testing.assert_array_equal(
            again(history, wanted), InverseNetwork.of_state(MethodState.read(whole, "inverse-model"))(history, wanted)
        )


@pytest.mark.parametrize("missing", ["targets", "weight_0", "bias_1", "input_mean", "output_scale", "input_clip"])
def test_a_model_with_a_part_missing_is_a_problem(folder, whole, missing):
    arrays, meta = load_arrays(whole, "inverse-model")
    del arrays[missing]
    save_arrays(folder / "wrong.npz", arrays, meta)
    with pytest.raises(Problem, match=r"wrong\.npz is not an inverse-model file, or it is damaged"):
        InverseNetwork.of_state(MethodState.read(folder / "wrong.npz", "inverse-model"))


@pytest.mark.parametrize("change", [{"history": None}, {"history": "two"}, {"history": [1]}, {"activation": "none"}])
def test_a_description_that_does_not_fit_is_a_problem(folder, whole, change):
    arrays, meta = load_arrays(whole, "inverse-model")
    save_arrays(folder / "wrong.npz", arrays, meta | change)
    with pytest.raises(Problem, match=r"wrong\.npz is not an inverse-model file, or it is damaged"):
        InverseNetwork.of_state(MethodState.read(folder / "wrong.npz", "inverse-model"))


def test_a_file_of_another_kind_is_a_problem(folder, random_mlp, rng):
    arrays = random_mlp((OBS, 8, ACT), rng).arrays()
    save_arrays(folder / "policy.npz", arrays, {"kind": "policy", "activation": "relu"})
    with pytest.raises(Problem, match=r"policy\.npz is not an? inverse-model file: it is one of kind .policy"):
        InverseNetwork.of_state(MethodState.read(folder / "policy.npz", "inverse-model"))


def test_a_model_that_is_not_there_is_a_problem(tmp_path):
    with pytest.raises(Problem, match=r"there is no inverse-model at .*none\.npz"):
        InverseNetwork.of_state(MethodState.read(tmp_path / "none.npz", "inverse-model"))
