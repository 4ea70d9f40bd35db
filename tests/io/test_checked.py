from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.io import from_json


@dataclass(frozen=True)
class Inner:
    size: int
    share: float = 0.5


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    on: bool = False
    perhaps: float | None = None
    sizes: tuple[int, ...] = ()
    point: tuple[float, float] = (0.0, 0.0)
    parts: list[dict[str, float]] = field(default_factory=list)
    free: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        if self.name == "bad":
            raise ValueError("bad names are not taken")


RIGHT = {"name": "a", "inner": {"size": 3}}


def made(data):
    return from_json(Outer, data, Path("file.json"), "an outer", "; remove it")


def test_every_kind_of_field_is_made():
    more = {"on": True, "perhaps": 2, "sizes": [1, 2], "point": [1, 2.5], "parts": [{"x": 1}], "free": {"y": [None]}}
    assert made(RIGHT) == Outer("a", Inner(3))
    assert made(RIGHT | more) == Outer("a", Inner(3), True, 2, (1, 2), (1, 2.5), [{"x": 1}], {"y": [None]})


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([], r"it is \[\], expected an object"),
        ({"name": "a"}, "it has no inner"),
        (RIGHT | {"inner": {}}, "inner has no size"),
        (RIGHT | {"inner": {"size": True}}, "inner.size is True, expected a whole number"),
        (RIGHT | {"inner": {"size": 3, "share": "x"}}, "inner.share is 'x', expected a number"),
        (RIGHT | {"inner": None}, "inner is None, expected an object"),
        (RIGHT | {"name": 3}, "name is 3, expected text"),
        (RIGHT | {"on": 1}, "on is 1, expected true or false"),
        (RIGHT | {"sizes": [1, "2"]}, r"sizes\[1\] is '2', expected a whole number"),
        (RIGHT | {"point": [1]}, r"point is \[1\], expected a list of 2"),
        (RIGHT | {"parts": [{"x": []}]}, r"parts\[0\].x is \[\], expected a number"),
        (RIGHT | {"other": 1}, "it has a field 'other' that does not belong there"),
        (RIGHT | {"name": "bad"}, "bad names are not taken"),
    ],
)
def test_what_does_not_fit_is_named(data, complaint):
    with pytest.raises(Problem, match=rf"^file\.json is not an outer \({complaint}\); remove it$"):
        made(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["name", "inner", "on", "perhaps", "sizes", "point", "parts", "free", "other"])


@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_any_value_is_made_or_a_problem(data):
    for value in (data, RIGHT | data):
        try:
            assert isinstance(made(value), Outer)
        except Problem as problem:
            assert "file.json" in str(problem)  # noqa: PT017 - both outcomes are right
