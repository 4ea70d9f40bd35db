"""ROS 2 bags: a folder of SQLite or MCAP files, or one of those files by itself."""

import sqlite3
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from isthmus.core import Problem
from isthmus.io import open_regular
from isthmus.logs.mcap_log import add_mcap, add_mcap_records
from isthmus.logs.packed import unpack_zstd, unpacked_message
from isthmus.logs.ros_types import Types, known_types, parse_types
from isthmus.logs.series import Log, make_log
from isthmus.logs.topics import Topics

MOST_FILES = 1000
LARGEST_MESSAGE = 256 << 20
LARGEST_FILE = 256 << 20
"""Bytes that a compressed file of a bag may unpack to."""
SQLITE = b"SQLite format 3\0"
PACKED = ".zstd"
"""What names of compressed files end in."""


def read_rosbag2(folder: Path) -> Log:
    """The topics of all files of a bag."""
    topics, notes = Topics(), list[str]()
    kinds = (".db3", ".mcap", f".db3{PACKED}", f".mcap{PACKED}")
    files = sorted(one for one in folder.iterdir() if one.name.endswith(kinds))
    if not files or len(files) > MOST_FILES:
        raise Problem(f"the bag {folder} has {len(files)} files .db3 or .mcap, expected 1 to {MOST_FILES}")
    for file in files:
        if file.suffix == PACKED:
            _add_packed(file, topics, notes)
        else:
            (add_mcap if file.suffix == ".mcap" else _add_database)(file, topics, notes)
    return make_log(folder, "rosbag 2", topics.series(), notes + topics.notes())


def read_database(path: Path) -> Log:
    """The topics of one SQLite file of a bag."""
    topics, notes = Topics(), list[str]()
    _add_database(path, topics, notes)
    return make_log(path, "rosbag 2", topics.series(), notes + topics.notes())


def _add_packed(path: Path, topics: Topics, notes: list[str]) -> None:
    """Add the messages of a file that was compressed as a whole, unpacked in memory."""
    with open_regular(path, follow=True) as file:
        try:
            content = unpack_zstd(file, LARGEST_FILE + 1)
        except Exception as error:  # a damaged file fails in types of zstandard
            notes.append(f"{path.name} was left out, it cannot be unpacked: {str(error)[:80]}")
            return
    if len(content) > LARGEST_FILE:
        raise Problem(f"{path} unpacks to more than {LARGEST_FILE >> 20} MB: unpack it with zstd -d")
    if path.name.endswith(f".mcap{PACKED}"):
        add_mcap_records(BytesIO(content), path.name, topics, notes)
        return
    base = sqlite3.connect(":memory:")
    if content.startswith(SQLITE):  # anything else, and nothing, raises MemoryError
        base.deserialize(content)
    _read_database(base, path, topics, notes)


def _add_database(path: Path, topics: Topics, notes: list[str]) -> None:
    """Add the messages of an SQLite file, opened so that neither it nor files beside it are changed."""
    open_regular(path, follow=True).close()
    try:
        base = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise Problem(f"{path} is not a bag: {error}") from error
    _read_database(base, path, topics, notes)


def _read_database(base: sqlite3.Connection, path: Path, topics: Topics, notes: list[str]) -> None:
    """Add the messages of a database, and close it."""
    try:
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_MESSAGE)
        # Views and triggers of a stranger's file are queries that run: only plain tables are read.
        base.execute("PRAGMA trusted_schema = OFF")
        # A file that is shorter than its first page says is refused otherwise, and not read as far as it goes.
        base.execute("PRAGMA writable_schema = ON")
        kinds = dict(base.execute("SELECT name, type FROM sqlite_master WHERE name IN ('topics', 'messages')"))
        if kinds != {"topics": "table", "messages": "table"}:
            raise Problem(f"{path} is not a bag: it has no tables topics and messages")
        _add_messages(base, topics, notes)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        notes.append(f"{path.name} is damaged ({error}): it was read up to there")
    finally:
        base.close()


def _add_messages(base: sqlite3.Connection, topics: Topics, notes: list[str]) -> None:
    defined = _definitions(base)
    channels: dict[int, tuple[str, str, Types]] = {}
    for number, topic, name, encoding in base.execute("SELECT id, name, type, serialization_format FROM topics"):
        if encoding != "cdr":
            notes.append(f"the topic {topic} was left out: messages in {str(encoding)[:40]!r} are not read")
            continue
        try:
            types = parse_types(defined[name], name) if name in defined else known_types()
        except Problem as error:
            notes.append(f"the topic {topic} was left out: {error}")
            continue
        channels[number] = str(topic), str(name), types
    for number, stamp, content in base.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY id"):
        if number in channels and isinstance(content, bytes) and isinstance(stamp, int):
            topic, name, types = channels[number]
            topics.add(topic, stamp * 1e-9, unpacked_message(content), name, types, cdr=True)


def _definitions(base: sqlite3.Connection) -> dict[str, str]:
    """The definitions that newer bags carry, by the name of the message."""
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "message_definitions" not in tables:
        return {}
    rows = base.execute("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")
    return {str(name): str(text) for name, encoding, text in rows if encoding == "ros2msg"}
