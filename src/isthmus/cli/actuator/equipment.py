"""`--actuator FILE`: lets any task run with an actuator model, and says when it was used outside its data."""

import hashlib
from dataclasses import replace
from pathlib import Path

from isthmus.actuators import equip, load_actuator
from isthmus.actuators.channel import OFTEN, Outside
from isthmus.core import Problem
from isthmus.io import read_regular
from isthmus.robots.equipment import provide
from isthmus.tasks import Task

PART = "actuator"
LARGEST = 64 << 20
"""Bytes of an actuator model."""
DIGITS = 12
_watched: dict[str, Outside] = {}


def with_actuator(task: str, file: Path) -> str:
    """The text of a task whose robot has the actuator model in `file`: the text holds a digest of the file."""
    place = file.resolve()
    return f"{task}+{PART}={place}@{_digest(place)}"


def provide_actuators() -> None:
    """Let tasks have actuator models."""
    provide(PART, _equipped)


def outside_warnings() -> list[str]:
    """What to say about actuator models that were used outside their data, and forget it."""
    said = [
        f"{share:.1%} of what the actuator model {name} was asked lay outside the data it was fitted to: its torques "
        "are a guess there; record motion that covers it (see `isthmus actuator excite --help`)"
        for name, watch in _watched.items()
        if (share := watch.share) > OFTEN
    ]
    _watched.clear()
    return said


def _equipped(task: Task, text: str) -> Task:
    name, _, digest = text.rpartition("@")
    path = Path(name or text)
    if name and _digest(path) != digest:
        raise Problem(f"{path} has changed since this began: it goes on only with the actuator model it was begun with")
    watch = _watched.setdefault(path.name, Outside())
    return replace(task, robot_model=equip(task.robot_model, load_actuator(path), watch))


def _digest(path: Path) -> str:
    try:
        content = read_regular(path, limit=LARGEST, follow=True)
    except OSError as error:
        raise Problem(f"cannot read the actuator model {path}: {error.strerror}") from error
    return hashlib.blake2b(content, digest_size=16).hexdigest()[:DIGITS]
