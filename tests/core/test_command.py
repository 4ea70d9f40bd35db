from dataclasses import dataclass, field

from isthmus.core.command import command_of


@dataclass(frozen=True)
class Inner:
    exact: bool = True
    quiet: bool = False
    sizes: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Outer:
    rate: float = 0.5
    inner: Inner = field(default_factory=Inner)


def test_what_is_none_false_or_empty_is_left_out():
    assert command_of(("list", "tasks"), {"a": None, "b": False, "c": (), "d": []}) == "isthmus list tasks"


def test_zero_is_a_value():
    assert command_of(("x",), {"seed": 0, "score": 0.0}) == "isthmus x --seed 0 --score 0.0"


def test_flags_and_several_values():
    options = {"may_retrain": True, "hidden": (8, 16), "tasks": ["a", "b"]}
    assert command_of(("x",), options) == "isthmus x --may-retrain --hidden 8 16 --tasks a b"


def test_of_settings_what_is_not_as_usual_is_given():
    assert command_of(("x",), {"fit": Outer()}) == "isthmus x"
    changed = Outer(0.1, Inner(exact=False, quiet=True, sizes=(3,)))
    expected = "isthmus x --fit.rate 0.1 --fit.inner.no-exact --fit.inner.quiet --fit.inner.sizes 3"
    assert command_of(("x",), {"fit": changed}) == expected


def test_names_are_quoted_and_cannot_be_taken_for_options():
    assert command_of(("x", "my robot.py"), {"out": "-a;b"}) == "isthmus x 'my robot.py' '--out=-a;b'"
