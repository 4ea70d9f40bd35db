"""`--actuator FILE`: lets any task run with an actuator model, and says when it was used outside its data."""

from dataclasses import replace
from pathlib import Path

from isthmus.actuators import equip, load_actuator
from isthmus.actuators.channel import OFTEN, Outside
from isthmus.cli.part_files import checked_file, with_file
from isthmus.robots.equipment import provide
from isthmus.tasks import Task

PART, WHAT = "actuator", "actuator model"
_watched: dict[str, Outside] = {}


def with_actuator(task: str, file: Path) -> str:
    """The text of a task whose robot has the actuator model in `file`."""
    return with_file(task, PART, file, WHAT)


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
    path = checked_file(text, WHAT)
    watch = _watched.setdefault(path.name, Outside())
    return replace(task, robot_model=equip(task.robot_model, load_actuator(path), watch))
