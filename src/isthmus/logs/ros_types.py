"""Definitions of ROS messages, as a log carries them or as ROS distributions have them.

The `rosbags` package parses definitions. Its own decoder generates Python code from them and executes it, so
`ros_messages` decodes the messages of a log instead: it interprets the parsed definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from isthmus.core import Problem

LONGEST = 1 << 20
"""Characters of a definition."""
FIXED = {
    "bool": "?",
    "byte": "B",
    "char": "B",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
"""Number types and their letters in `struct`."""


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    name: str
    type: str
    """A number type of `FIXED`, `string`, or the name of another message."""
    count: int | None
    """None for a single value, 0 for a sequence of any length, else the length of an array."""


Types = Mapping[str, tuple[Field, ...]]


def parse_types(text: str, name: str) -> Types:
    """The messages that a definition has, `name` and those it is made of; Problem where it cannot be parsed."""
    typesys = _rosbags()
    if len(text) > LONGEST:
        raise Problem(f"the definition of {name[:80]} has {len(text):,} characters, at most {LONGEST:,} are read")
    try:
        return _fields(typesys.get_types_from_msg(text, name))
    except Exception as error:  # the parser fails in many ways
        raise Problem(f"the definition of {name[:80]} cannot be parsed: {str(error)[:120]}") from error


@cache
def known_types() -> Types:
    """The standard messages of ROS 2, for logs that carry no definitions."""
    stores = _rosbags()
    return _fields(stores.get_typestore(stores.Stores.LATEST).fielddefs)


def _rosbags() -> ModuleType:
    try:
        from rosbags import typesys  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Problem("ROS logs need the package rosbags: pip install 'isthmus[logs]'") from error
    return typesys


def _fields(types: Mapping[str, Any]) -> Types:
    return {name: tuple(_field(field, described) for field, described in one[1]) for name, one in types.items()}


def _field(name: str, described: tuple[Any, Any]) -> Field:
    """A field from the parser's description: (node type, (element, length)) for arrays, (node type, element) else."""
    kind, rest = described
    if kind.name in ("ARRAY", "SEQUENCE"):
        element, count = rest
        return Field(name, _type(element), count if kind.name == "ARRAY" else 0)
    return Field(name, _type(described), None)


def _type(described: tuple[Any, Any]) -> str:
    kind, rest = described
    return rest[0] if kind.name == "BASE" else rest
