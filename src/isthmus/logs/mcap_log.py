"""MCAP files with ROS 1, ROS 2 or JSON messages."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from isthmus.core import Problem
from isthmus.io import open_regular
from isthmus.logs.json_log import flatten
from isthmus.logs.packed import unpack_lz4, unpack_zstd, unpacked_message
from isthmus.logs.ros_messages import Message
from isthmus.logs.ros_types import Types, known_types, parse_types
from isthmus.logs.series import Log, make_log
from isthmus.logs.topics import Topics

if TYPE_CHECKING:
    from mcap.records import Channel, McapRecord, Schema

LARGEST_RECORD = 256 << 20
ENCODINGS = ("cdr", "ros1", "json")


@dataclass(frozen=True)
class _Channel:
    topic: str
    encoding: str
    type: str
    types: Types


def read_mcap(path: Path) -> Log:
    """The topics of an MCAP file."""
    topics, notes = Topics(), list[str]()
    add_mcap(path, topics, notes)
    return make_log(path, "MCAP", topics.series(), notes + topics.notes())


def add_mcap(path: Path, topics: Topics, notes: list[str]) -> None:
    """Add the messages of an MCAP file to `topics`; a damaged one is read as far as it goes."""
    with open_regular(path, follow=True) as file:
        add_mcap_records(file, path.name, topics, notes)


def add_mcap_records(file: BinaryIO, name: str, topics: Topics, notes: list[str]) -> None:
    """Add the messages of an open MCAP file of that name to `topics`."""
    schemas: dict[int, Schema] = {}
    channels: dict[int, _Channel | None] = {}
    try:
        for record in _records(file):
            _record(record, schemas, channels, topics, notes)
    except Problem:
        raise
    except Exception as error:  # a damaged file fails in many ways: struct.error, EndOfFile, ZstdError, ...
        said = str(error)[:120] or type(error).__name__
        notes.append(f"{name} is damaged at byte {file.tell():,} ({said}): it was read up to there")


def _records(file: BinaryIO) -> "Iterator[McapRecord]":
    try:
        from mcap import records, stream_reader  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Problem("MCAP logs need the package mcap: pip install 'isthmus[logs]'") from error
    reader = stream_reader.StreamReader(file, emit_chunks=True, record_size_limit=LARGEST_RECORD)
    for record in reader.records:
        if isinstance(record, records.Chunk):
            record.data, record.compression = _unpacked(record.data, record.compression), ""
            yield from stream_reader.breakup_chunk(record)
        elif isinstance(record, records.DataEnd):
            return
        else:
            yield record


def _unpacked(content: bytes, how: str) -> bytes:
    """The content of a chunk, counted while it is unpacked: what its header says is not relied upon."""
    if not how:
        return content
    if how not in ("zstd", "lz4"):
        raise ValueError(f"packed as {how[:20]!r}")
    unpacked = (unpack_zstd if how == "zstd" else unpack_lz4)(content, LARGEST_RECORD)
    if len(unpacked) >= LARGEST_RECORD:
        raise ValueError(f"a chunk that unpacks to more than {LARGEST_RECORD >> 20} MB")
    return unpacked


def _record(
    record: "McapRecord",
    schemas: "dict[int, Schema]",
    channels: dict[int, _Channel | None],
    topics: Topics,
    notes: list[str],
) -> None:
    from mcap import records  # noqa: PLC0415 - an extra

    if isinstance(record, records.Schema):
        schemas[record.id] = record
    elif isinstance(record, records.Channel):
        if record.id not in channels:
            channels[record.id] = _channel(record, schemas.get(record.schema_id), notes)
    elif isinstance(record, records.Message):
        one = channels.get(record.channel_id)
        if one is None:
            return
        received = record.log_time * 1e-9
        if one.encoding == "json":
            topics.take(one.topic, received, _json(record.data))
        else:
            cdr = one.encoding == "cdr"
            content = unpacked_message(record.data) if cdr else record.data
            topics.add(one.topic, received, content, one.type, one.types, cdr=cdr)


def _channel(channel: "Channel", schema: "Schema | None", notes: list[str]) -> _Channel | None:
    """How to decode a channel's messages; None, and a note, where that is not known."""
    encoding = channel.message_encoding
    if encoding not in ENCODINGS:
        notes.append(f"the topic {channel.topic} was left out: messages in {encoding[:40]!r} are not read")
        return None
    if encoding == "json":
        return _Channel(channel.topic, encoding, "", {})
    name = "" if schema is None else schema.name.replace("/msg/", "/").replace("/", "/msg/")
    try:
        if schema is not None and schema.encoding in ("ros1msg", "ros2msg") and schema.data:
            types = parse_types(schema.data.decode("utf-8", "replace"), name)
        else:
            types = known_types()
    except Problem as error:
        notes.append(f"the topic {channel.topic} was left out: {error}")
        return None
    return _Channel(channel.topic, encoding, name, types)


def _json(data: bytes) -> Message:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return Message()
    return Message(numbers=flatten(cast("dict[str, Any]", found)) if isinstance(found, dict) else {})
