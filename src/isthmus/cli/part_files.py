"""Files that a task's robot is given besides, in the text of the task.

Each is there with a digest, so that a run that goes on later notices when the file has become another.
"""

import hashlib
from pathlib import Path

from isthmus.core import Problem
from isthmus.io import read_regular

LARGEST = 64 << 20
"""Bytes of such a file."""
DIGITS = 12


def with_file(task: str, part: str, file: Path, what: str) -> str:
    """The text of a task whose robot has `part` from `file`; `what` is the kind of file, for messages."""
    place = file.resolve()
    return f"{task}+{part}={place}@{_digest(place, what)}"


def checked_file(text: str, what: str) -> Path:
    """The file that the text of a part names, if it is still the same."""
    name, _, digest = text.rpartition("@")
    path = Path(name or text)
    if name and _digest(path, what) != digest:
        raise Problem(f"{path} has changed since this began: it goes on only with the {what} it was begun with")
    return path


def _digest(path: Path, what: str) -> str:
    try:
        content = read_regular(path, limit=LARGEST, follow=True)
    except OSError as error:
        raise Problem(f"cannot read the {what} {path}: {error.strerror}") from error
    return hashlib.blake2b(content, digest_size=16).hexdigest()[:DIGITS]
