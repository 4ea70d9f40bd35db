"""ROS 1 bags, record after record: without the index, so that a bag whose end is missing is read as far as it goes."""

import bz2
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from isthmus.core import Problem
from isthmus.io import open_regular
from isthmus.logs.packed import unpack_lz4
from isthmus.logs.ros_types import Types, parse_types
from isthmus.logs.series import Log, make_log
from isthmus.logs.topics import Topics

LARGEST_RECORD = 256 << 20
MESSAGE, CHUNK, CONNECTION = 2, 5, 7
VERSION_LINE = 13


class _Cut(ValueError):  # noqa: N818 - it is a finding, not a fault of the program
    """The bag ends, or is damaged, here."""


@dataclass(frozen=True)
class _Connection:
    topic: str
    type: str
    types: Types


def read_rosbag1(path: Path) -> Log:
    """The topics of a ROS 1 bag."""
    topics, notes = Topics(), list[str]()
    connections: dict[int, _Connection] = {}
    with open_regular(path, follow=True) as file:
        file.seek(VERSION_LINE)
        try:
            for header, content in _records(file):
                code = header.get(b"op", b"\0")[0]
                inside = _records_in(_unpacked(header, content)) if code == CHUNK else [(header, content)]
                for inner, data in inside:
                    _record(inner, data, connections, topics, notes)
        except _Cut as error:
            notes.append(f"the bag is damaged at byte {file.tell():,} ({error}): it was read up to there")
    return make_log(path, "rosbag 1", topics.series(), notes + topics.notes())


def _record(
    header: dict[bytes, bytes], data: bytes, connections: dict[int, _Connection], topics: Topics, notes: list[str]
) -> None:
    code = header.get(b"op", b"\0")[0]
    if code not in (MESSAGE, CONNECTION):
        return
    number = int.from_bytes(header.get(b"conn", b""), "little")
    if code == CONNECTION:
        if number not in connections:
            _connect(number, header, data, connections, notes)
        return
    if number in connections and len(header.get(b"time", b"")) == 8:
        one = connections[number]
        whole, nano = struct.unpack("<II", header[b"time"])
        topics.add(one.topic, whole + nano * 1e-9, data, one.type, one.types, cdr=False)


def _connect(
    number: int, header: dict[bytes, bytes], data: bytes, connections: dict[int, _Connection], notes: list[str]
) -> None:
    said = _fields(data)
    topic = header.get(b"topic", b"").decode("utf-8", "replace")
    name = said.get(b"type", b"").decode("utf-8", "replace").replace("/msg/", "/").replace("/", "/msg/")
    try:
        types = parse_types(said.get(b"message_definition", b"").decode("utf-8", "replace"), name)
    except Problem as error:
        notes.append(f"the topic {topic} was left out: {error}")
        return
    connections[number] = _Connection(topic, name, types)


def _records(file: BinaryIO) -> Iterator[tuple[dict[bytes, bytes], bytes]]:
    while first := file.read(4):
        yield _fields(_sized(file, first)), _sized(file, file.read(4))


def _sized(file: BinaryIO, prefix: bytes) -> bytes:
    if len(prefix) < 4:
        raise _Cut("its last record is not all there")
    length = int.from_bytes(prefix, "little")
    if length > LARGEST_RECORD:
        raise _Cut(f"a record of {length:,} bytes")
    content = file.read(length)
    if len(content) < length:
        raise _Cut("its last record is not all there")
    return content


def _records_in(chunk: bytes) -> Iterator[tuple[dict[bytes, bytes], bytes]]:
    at = 0
    while at < len(chunk):
        parts: list[bytes] = []
        for _ in range(2):
            length = int.from_bytes(chunk[at : at + 4], "little")
            parts.append(chunk[at + 4 : at + 4 + length])
            if len(parts[-1]) < length or at + 4 > len(chunk):
                raise _Cut("a chunk that is not all there")
            at += 4 + length
        yield _fields(parts[0]), parts[1]


def _fields(header: bytes) -> dict[bytes, bytes]:
    """The `name=value` fields of a header, each behind its length."""
    fields: dict[bytes, bytes] = {}
    at = 0
    while at + 4 <= len(header):
        length = int.from_bytes(header[at : at + 4], "little")
        name, equals, value = header[at + 4 : at + 4 + length].partition(b"=")
        if not equals or at + 4 + length > len(header):
            raise _Cut("a header that is not one")
        fields[name] = value
        at += 4 + length
    if not fields.get(b"op", b"x"):
        raise _Cut("a record of no kind")
    return fields


def _unpacked(header: dict[bytes, bytes], content: bytes) -> bytes:
    """The content of a chunk, counted while it is unpacked."""
    how = header.get(b"compression", b"none")
    try:
        if how == b"none":
            return content
        if how == b"bz2":
            unpacked = bz2.BZ2Decompressor().decompress(content, LARGEST_RECORD)
        elif how == b"lz4":
            unpacked = unpack_lz4(content, LARGEST_RECORD)
        else:
            raise _Cut(f"packed as {how[:20]!r}")
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        raise _Cut(f"a chunk that cannot be unpacked: {str(error)[:80]}") from error
    if len(unpacked) >= LARGEST_RECORD:
        raise _Cut(f"a chunk that unpacks to more than {LARGEST_RECORD >> 20} MB")
    return unpacked
