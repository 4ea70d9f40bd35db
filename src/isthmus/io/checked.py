"""Make frozen dataclasses from JSON: every field is there and of its own type, and no other field is."""

import dataclasses
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from isthmus.core import Problem

T = TypeVar("T")
WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def from_json(kind: type[T], data: object, path: Path, what: str, advice: str = "") -> T:
    """The `kind` whose fields the JSON value `data` of the file `path` holds, checked at every depth.

    A field that is missing takes its default. Anything that does not fit is a Problem that says that the file is not
    `what` it should be, names the field, and ends with `advice`.
    """
    try:
        return cast("T", _made(kind, data, ""))
    except (ValueError, Problem) as error:
        raise Problem(f"{path} is not {what} ({error}){advice}") from error


def _made(kind: Any, value: object, where: str) -> object:  # noqa: ANN401 - a type, or what typing makes of one
    if kind is Any:
        return value
    if get_origin(kind) in (Union, types.UnionType):  # X | None: no other union is among the fields
        inner = next(one for one in get_args(kind) if one is not types.NoneType)
        return None if value is None else _made(inner, value, where)
    if dataclasses.is_dataclass(kind):
        return _dataclass(cast("type[object]", kind), value, where)
    if kind in WORDS:
        return _scalar(kind, value, where)
    return _container(kind, value, where)


def _scalar(kind: type, value: object, where: str) -> object:
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise _unfit(where, value, WORDS[kind])


def _container(kind: Any, value: object, where: str) -> object:  # noqa: ANN401
    origin, inner = get_origin(kind), get_args(kind)
    if origin is dict:
        named = _object(value, where)
        return {name: _made(inner[1], one, f"{where}.{name}".lstrip(".")) for name, one in named.items()}
    if not isinstance(value, list):
        raise _unfit(where, value, "a list")
    items = cast("list[object]", value)
    if origin is tuple and inner[1:] != (...,):
        if len(items) != len(inner):
            raise _unfit(where, items, f"a list of {len(inner)}")
        return tuple(_made(one, item, f"{where}[{i}]") for i, (one, item) in enumerate(zip(inner, items, strict=True)))
    return cast("Callable[[Any], object]", origin)(
        _made(inner[0], item, f"{where}[{i}]") for i, item in enumerate(items)
    )


def _dataclass(kind: type[object], value: object, where: str) -> object:
    named, hints = dict(_object(value, where)), _hints(kind)
    if unknown := named.keys() - hints.keys():
        raise ValueError(f"{where or 'it'} has a field {min(unknown)[:40]!r} that does not belong there")
    fields = {name: _made(hints[name], one, f"{where}.{name}".lstrip(".")) for name, one in named.items()}
    for field in dataclasses.fields(cast("Any", kind)):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in fields:
            raise ValueError(f"{where or 'it'} has no {field.name}")
    return kind(**fields)


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _unfit(where, value, "an object")
    return cast("dict[str, object]", value)


@cache
def _hints(kind: type[object]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(cast("Any", kind)) if field.init}


def _unfit(where: str, value: object, wanted: str) -> ValueError:
    text = repr(value)
    return ValueError(f"{where or 'it'} is {text if len(text) <= 40 else text[:40] + '...'}, expected {wanted}")
