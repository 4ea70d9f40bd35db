import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem, unknown_name

CHOICES = ("reacher", "hopper", "humanoid")


@given(st.text(max_size=12))
def test_every_valid_name_is_listed_in_order(name):
    text = str(unknown_name("task", name, CHOICES))
    assert text.startswith(f"unknown task {name!r}: choose from hopper, humanoid, reacher")


@pytest.mark.parametrize(("typed", "meant"), [("reachr", "reacher"), ("hoper", "hopper"), ("human", "humanoid")])
def test_the_nearest_name_is_suggested(typed, meant):
    assert str(unknown_name("task", typed, CHOICES)).endswith(f"; did you mean {meant!r}?")


def test_nothing_is_suggested_when_nothing_is_near():
    assert "did you mean" not in str(unknown_name("task", "xyz", CHOICES))


def test_it_is_a_problem_of_the_user():
    assert isinstance(unknown_name("task", "x", CHOICES), Problem)


def test_a_problem_is_one_line_whatever_is_put_into_it():
    assert str(Problem("a file says\n'x'\r\ny")) == "a file says 'x' y"
    assert len(str(Problem("x" * 10_000))) == 1500
    assert str(Problem("x" * 10_000)).endswith(" ...")


def test_names_like_one_of_a_megabyte_are_not_looked_for(monkeypatch):
    compared = []
    monkeypatch.setattr(difflib, "get_close_matches", lambda name, *_, **__: compared.append(name) or [])
    text = str(unknown_name("task", "x" * (1 << 20), CHOICES))
    assert text.endswith("choose from hopper, humanoid, reacher")
    assert compared == []
