"""ROS 2 bags: a folder of SQLite or MCAP files, or one of those files by itself."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from isthmus.core import Problem
from isthmus.io import open_regular
from isthmus.logs.mcap_log import add_mcap
from isthmus.logs.ros_types import Types, known_types, parse_types
from isthmus.logs.series import Log, make_log
from isthmus.logs.topics import Topics

MOST_FILES = 1000
LARGEST_MESSAGE = 256 << 20


def read_rosbag2(folder: Path) -> Log:
    """The topics of all files of a bag."""
    topics, notes = Topics(), list[str]()
    files = sorted([*folder.glob("*.db3"), *folder.glob("*.mcap")])
    if not files or len(files) > MOST_FILES:
        raise Problem(f"the bag {folder} has {len(files)} files .db3 or .mcap, expected 1 to {MOST_FILES}")
    for file in files:
        (add_mcap if file.suffix == ".mcap" else _add_database)(file, topics, notes)
    return make_log(folder, "rosbag 2", topics.series(), notes + topics.notes())


def read_database(path: Path) -> Log:
    """The topics of one SQLite file of a bag."""
    topics, notes = Topics(), list[str]()
    _add_database(path, topics, notes)
    return make_log(path, "rosbag 2", topics.series(), notes + topics.notes())


def _add_database(path: Path, topics: Topics, notes: list[str]) -> None:
    """Add the messages of an SQLite file, opened so that neither it nor files beside it are changed."""
    open_regular(path, follow=True).close()
    try:
        base = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise Problem(f"{path} is not a bag: {error}") from error
    try:
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_MESSAGE)
        # Views and triggers of a stranger's file are queries that run: only plain tables are read.
        base.execute("PRAGMA trusted_schema = OFF")
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
            topics.add(topic, stamp * 1e-9, content, name, types, cdr=True)


def _definitions(base: sqlite3.Connection) -> dict[str, str]:
    """The definitions that newer bags carry, by the name of the message."""
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "message_definitions" not in tables:
        return {}
    rows = base.execute("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")
    return {str(name): str(text) for name, encoding, text in rows if encoding == "ros2msg"}
