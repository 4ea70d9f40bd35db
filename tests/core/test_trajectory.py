import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Trajectory

ARRAYS = ("observations", "commands", "applied", "source", "wanted")


def parts(steps=3, obs=4, act=2, source=2, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "observations": rng.normal(size=(steps + 1, obs)),
        "commands": rng.normal(size=(steps, act)),
        "applied": rng.normal(size=(steps, act)),
        "source": rng.normal(size=(steps, source)),
        "wanted": rng.normal(size=(steps, obs)),
    }


@given(st.integers(0, 5), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.data())
def test_parts_that_fit_are_kept_as_they_are(steps, obs, act, source, data):
    context = data.draw(st.integers(0, max(steps - 1, 0)))
    given_parts = parts(steps, obs, act, source)
    one = Trajectory(**given_parts, context=context)
    assert (len(one), one.context, one.samples) == (steps, context, steps - context)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), given_parts[name])
        assert getattr(one, name).dtype == np.float64


@given(st.sampled_from(ARRAYS), st.sampled_from(["row more", "row less", "column more", "flat", "deep"]))
def test_every_shape_that_does_not_fit_is_refused(name, change):
    wrong = parts()
    array = wrong[name]
    wrong[name] = {
        "row more": np.vstack((array, array[:1])),
        "row less": array[:-1],
        "column more": np.hstack((array, array[:, :1])),
        "flat": array.ravel(),
        "deep": array[None],
    }[change]
    if (name, change) == ("source", "column more"):  # the source may have other actuators
        assert Trajectory(**wrong).source.shape == (3, 3)
        return
    with pytest.raises(ValueError, match="has shape"):
        Trajectory(**wrong)


@given(st.sampled_from(ARRAYS), st.sampled_from([np.nan, np.inf, -np.inf]), st.integers(0, 2), st.integers(0, 1))
def test_a_number_that_is_not_finite_is_refused_by_name_and_row(name, number, row, column):
    wrong = parts()
    wrong[name][row, column] = number
    with pytest.raises(ValueError, match=f"{name} is not finite at row {row}"):
        Trajectory(**wrong)


@pytest.mark.parametrize("context", [-1, 3, 4])
def test_a_context_that_leaves_no_sample_is_refused(context):
    with pytest.raises(ValueError, match=f"context is {context}, but there are only 3 steps"):
        Trajectory(**parts(), context=context)


@pytest.mark.parametrize("name", ARRAYS)
def test_what_it_holds_cannot_be_changed(name):
    given_parts = parts()
    one = Trajectory(**given_parts)
    before = getattr(one, name).copy()
    given_parts[name][:] = 7.0
    np.testing.assert_array_equal(getattr(one, name), before)
    with pytest.raises(ValueError, match="read-only"):
        getattr(one, name)[0] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, name, before)


def test_whole_numbers_and_single_precision_become_float64():
    given_parts = {name: array.astype(np.float32) for name, array in parts().items()}
    given_parts["commands"] = np.arange(6).reshape(3, 2)
    one = Trajectory(**given_parts)
    assert {getattr(one, name).dtype for name in ARRAYS} == {np.dtype(np.float64)}
