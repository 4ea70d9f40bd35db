"""The fields of a protobuf message, walked without building anything: what ONNX files are made of."""

import struct
from collections.abc import Iterator

from isthmus.io.bounded import Unreadable

Value = int | memoryview


def fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """Each field's number and value: an integer, or the bytes of a text, a message or packed numbers."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(wire, -1)
        if size < 0 or at + size > len(message) or not number:
            raise Unreadable("it is not a protobuf message")
        yield number, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise Unreadable("it is not a protobuf message")


def signed(value: int) -> int:
    """An integer as int64 has it."""
    return value - (1 << 64) if value >> 63 else value


def integers(value: Value) -> list[int]:
    """A field of integers: one, or several that are packed."""
    if isinstance(value, int):
        return [signed(value)]
    numbers: list[int] = []
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        numbers.append(signed(number))
    return numbers


def submessage(value: Value) -> memoryview:
    """A field that is a message."""
    if isinstance(value, int):
        raise Unreadable("it is not a protobuf message of that kind")
    return value


def text(value: Value) -> str:
    """A field that is a short text."""
    return bytes(submessage(value)[:200]).decode("utf-8", "replace")


def raw_numbers(content: memoryview, code: str) -> list[float]:
    """Numbers of a struct code, little-endian."""
    count = len(content) // struct.calcsize(code)
    return list(struct.unpack(f"<{count}{code}", content[: count * struct.calcsize(code)]))
