"""Decode ROS 1 and ROS 2 (CDR) messages into numbers by the path of their field. Nothing is executed."""

import struct
from dataclasses import dataclass, field

from isthmus.logs.ros_types import FIXED, Field, Types

DEEPEST = 20
MOST_PARTS = 64
"""Messages in a list, as the motors of a robot, whose numbers become vectors."""
MOST_NUMBERS = 10_000
"""Numbers of one field: images and point clouds have more and are left out."""
NAMES = ("name", "names", "joint_names")
"""Lists of text that name the components of the other fields of a message."""


class Damaged(ValueError):  # noqa: N818 - it is a finding, not a fault of the program
    """A message that ends before its fields do, or whose type is not known."""


@dataclass
class Message:
    """The content of one message."""

    numbers: dict[str, list[float]] = field(default_factory=dict)
    """Numbers by the path of their field, as `position` or `linear_acceleration.x`."""
    names: tuple[str, ...] = ()
    """What the components are called, where the message says so."""
    stamp: float | None = None
    """Seconds of the header's time stamp, if it has one."""


class _Cursor:
    """A place in the bytes of a message. CDR pads numbers to their own size; ROS 1 does not."""

    def __init__(self, content: bytes, *, cdr: bool) -> None:
        self.content, self.at, self.cdr = content, 0, cdr
        self.order = "<"
        if cdr:
            if len(content) < 4:
                raise Damaged("a message without its CDR header")
            self.order = "<" if content[1] & 1 else ">"
            self.content = content[4:]

    def numbers(self, letter: str, count: int) -> tuple[float, ...]:
        size = struct.calcsize(f"={letter}")
        if self.cdr and count:
            self.at += -self.at % size
        end = self.at + size * count
        if end > len(self.content):
            raise Damaged("a message ends before its fields do")
        found = struct.unpack_from(f"{self.order}{count}{letter}", self.content, self.at)
        self.at = end
        return found

    def text(self) -> str:
        length = int(self.numbers("I", 1)[0])
        end = self.at + length
        if end > len(self.content):
            raise Damaged("a message ends before its text does")
        found = self.content[self.at : end].rstrip(b"\0").decode("utf-8", "replace")
        self.at = end
        return found

    def skip(self, letter: str, count: int) -> None:
        size = struct.calcsize(f"={letter}")
        if self.cdr:
            self.at += -self.at % size
        self.at += size * count
        if self.at > len(self.content):
            raise Damaged("a message ends before its fields do")


def decode(content: bytes, name: str, types: Types, *, cdr: bool) -> Message:
    """The numbers of a message of type `name`."""
    message = Message()
    cursor = _Cursor(content, cdr=cdr)
    _message(cursor, name, types, "", message, 0)
    return message


def _message(cursor: _Cursor, name: str, types: Types, path: str, into: Message, depth: int) -> None:
    if name not in types:
        raise Damaged(f"messages of type {name[:80]} are not known")
    if depth > DEEPEST:
        raise Damaged("messages that hold each other without end")
    for one in types[name]:
        count = one.count
        if count == 0:
            count = int(cursor.numbers("I", 1)[0])
            if count > len(cursor.content):  # every element takes a byte at least, but for empty messages
                raise Damaged("a sequence that is longer than its message")
        _field(cursor, one, count, types, f"{path}{one.name}", into, depth)


def _field(cursor: _Cursor, one: Field, count: int | None, types: Types, where: str, into: Message, depth: int) -> None:
    many = 1 if count is None else count
    if one.type in FIXED:
        _numbers(cursor, FIXED[one.type], many, where, into)
    elif one.type in ("time", "duration") or one.type.endswith(("/Time", "/Duration")):
        _times(cursor, many, one.type, where, into)
    elif one.type in ("string", "wstring"):
        texts = tuple(cursor.text() for _ in range(many))
        if count is not None and one.name in NAMES and texts:
            into.names = texts
    else:
        parts = [into if count is None else Message() for _ in range(min(many, MOST_PARTS))]
        for item in range(many):  # all have to be read, whether they are kept or not
            part = parts[item] if item < len(parts) else Message()
            _message(cursor, one.type, types, f"{where}.", part, depth + 1)
        if count is not None and parts:
            _abreast(parts, into, alone=many > MOST_PARTS)


def _abreast(parts: list[Message], into: Message, *, alone: bool) -> None:
    """Take a list of messages: single numbers become vectors over the list, unless the first stands `alone`.

    Of vectors and times the first is kept, as the first point of a trajectory.
    """
    for path, numbers in parts[0].numbers.items():
        whole = not alone and all(len(part.numbers.get(path, ())) == 1 for part in parts)
        into.numbers[path] = [part.numbers[path][0] for part in parts] if whole else numbers


def _numbers(cursor: _Cursor, letter: str, count: int, where: str, into: Message) -> None:
    if count > MOST_NUMBERS:
        cursor.skip(letter, count)
    elif count:
        into.numbers[where] = [float(one) for one in cursor.numbers(letter, count)]


def _times(cursor: _Cursor, count: int, kind: str, where: str, into: Message) -> None:
    """Seconds and nanoseconds, each of 32 bits."""
    signed = kind.lower().endswith("duration")
    for _ in range(count):
        whole = cursor.numbers("i" if signed else "I", 1)[0]
        value = whole + cursor.numbers("i" if signed else "I", 1)[0] * 1e-9
        if where == "header.stamp":
            into.stamp = value
        else:
            into.numbers[where] = [value]
