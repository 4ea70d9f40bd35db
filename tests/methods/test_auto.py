import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.methods import MethodSettings, Source, make_method
from isthmus.methods.auto import AS_BEFORE, AS_IT_IS, chosen
from isthmus.tasks import load_task


def scores(**means):
    noise = np.random.default_rng(0).standard_normal(16)
    means = {AS_IT_IS: 0.0, AS_BEFORE: 0.0} | means
    return {name: mean + (0.1 * noise if name == AS_BEFORE else noise) for name, mean in means.items()}


def test_what_surely_does_better_is_taken():
    assert chosen(scores(explained=1.0)) == "explained"
    assert chosen(scores(explained=1.0, identified=2.0)) == "identified"
    assert chosen(scores(explained=2.0, identified=1.0)) == "explained"


def test_the_policy_as_it_is_stays_where_nothing_does_better():
    assert chosen(scores(explained=-1.0)) == AS_IT_IS
    assert chosen(scores(explained=0.0)) == AS_IT_IS


def test_what_was_taken_stays_where_what_is_new_does_worse():
    assert chosen(scores(explained=1.0) | {AS_BEFORE: np.full(16, 9.0)}) == AS_BEFORE


@given(st.lists(st.floats(-5, 5), min_size=16, max_size=16))
def test_a_candidate_that_does_worse_everywhere_is_never_taken(plain):
    plain = np.array(plain)
    assert chosen({AS_IT_IS: plain, "explained": plain - 0.1, AS_BEFORE: plain}) == AS_IT_IS


def test_who_cannot_rehearse_cannot_choose():
    task = load_task("reacher")
    source = Source(lambda _history: np.zeros((1, 2)), task.source(), task.unlimited(), task.embodiment.spec, 0)
    with pytest.raises(Problem, match="tries its candidates"):
        make_method("auto", source, MethodSettings())
