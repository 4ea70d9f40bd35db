import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem, Trajectory
from isthmus.io import load_arrays, load_episode, save_arrays, save_episode

ARRAYS = ("observations", "commands", "applied", "source", "wanted")


def trajectory(steps, sizes, context, rng):
    obs, act, source = sizes
    return Trajectory(
        rng.normal(size=(steps + 1, obs)),
        rng.normal(size=(steps, act)),
        rng.normal(size=(steps, act)),
        rng.normal(size=(steps, source)),
        rng.normal(size=(steps, obs)),
        context,
    )


@st.composite
def episodes(draw):
    sizes = draw(st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    return [trajectory(length, sizes, draw(st.integers(0, max(length - 1, 0))), rng) for length in lengths]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("episodes")


@pytest.fixture(scope="module")
def whole(folder):
    rng = np.random.default_rng(0)
    save_episode(folder / "whole.npz", [trajectory(5, (4, 2, 2), 0, rng), trajectory(3, (4, 2, 2), 2, rng)])
    return folder / "whole.npz"


@given(episodes())
def test_an_episode_comes_back_as_it_was(folder, episode):
    path = folder / "episode.npz"
    save_episode(path, episode)
    again = load_episode(path)
    assert [(len(one), one.context) for one in again] == [(len(one), one.context) for one in episode]
    for one, before in zip(again, episode, strict=True):
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(one, name), getattr(before, name))
            assert not getattr(one, name).flags.writeable


@given(st.floats(0, 1, exclude_max=True))
def test_an_episode_cut_short_is_a_problem_that_names_the_file(folder, whole, where):
    content, path = whole.read_bytes(), folder / "short.npz"
    path.write_bytes(content[: int(where * len(content))])
    with pytest.raises(Problem, match=r"short\.npz is not an? episode file"):
        load_episode(path)


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_a_changed_byte_is_a_problem_or_changes_nothing(folder, whole, where, change):
    content, path = bytearray(whole.read_bytes()), folder / "changed.npz"
    content[int(where * len(content))] ^= change
    path.write_bytes(bytes(content))
    try:
        again = load_episode(path)
    except Problem as problem:
        assert str(path) in str(problem)  # noqa: PT017 - both outcomes are right
    else:
        for one, before in zip(again, load_episode(whole), strict=True):
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(one, name), getattr(before, name))


CHANGES = {
    "missing": lambda _array: None,
    "shorter": lambda array: array[:-1],
    "text": lambda array: np.full(array.shape, "x"),
    "flat": np.ravel,
    "not finite": lambda array: np.full(array.shape, np.nan),
}
WRONG = [(name, change) for name in ARRAYS for change in CHANGES]
WRONG += [(name, change) for name in ("lengths", "contexts") for change in ("missing", "text", "not finite")]


@pytest.mark.parametrize(("name", "change"), [*WRONG, ("lengths", "shorter")])
def test_arrays_that_are_no_episode_are_a_problem(folder, whole, name, change):
    arrays, meta = load_arrays(whole, "episode")
    changed = CHANGES[change](arrays.pop(name))
    path = folder / "wrong.npz"
    save_arrays(path, arrays if changed is None else {**arrays, name: changed}, meta)
    with pytest.raises(Problem, match=r"wrong\.npz is not an episode file, or it is damaged"):
        load_episode(path)


def test_a_file_of_another_kind_is_a_problem(folder):
    path = folder / "policy.npz"
    save_arrays(path, {"weight_0": np.zeros((2, 2)), "bias_0": np.zeros(2)}, {"kind": "policy"})
    with pytest.raises(Problem, match=r"policy\.npz is not an? episode file: it is one of kind .policy"):
        load_episode(path)


def test_an_episode_file_needs_nothing_of_ours_to_be_read(whole):
    with np.load(io.BytesIO(whole.read_bytes()), allow_pickle=False) as archive:
        assert set(archive.files) == {"meta", "lengths", "contexts", *ARRAYS}


def test_fewer_contexts_than_trajectories_are_a_problem(tmp_path, rng):
    one = Trajectory(rng.normal(size=(4, 2)), *[rng.normal(size=(3, 1))] * 3, rng.normal(size=(3, 2)))
    save_episode(tmp_path / "e.npz", [one, one])
    arrays, meta = load_arrays(tmp_path / "e.npz", "episode")
    save_arrays(tmp_path / "e.npz", {**arrays, "contexts": arrays["contexts"][:1]}, meta)
    with pytest.raises(Problem):
        load_episode(tmp_path / "e.npz")
