"""`--twin FILE`: lets any task run behind the statistical twin of a firmware."""

from dataclasses import replace
from pathlib import Path

from isthmus.cli.part_files import checked_file, with_file
from isthmus.robots.equipment import provide
from isthmus.tasks import Task

PART, WHAT = "twin", "twin of a firmware"


def with_twin(task: str, file: Path) -> str:
    """The text of a task whose robot is behind the twin in `file`."""
    return with_file(task, PART, file, WHAT)


def provide_twins() -> None:
    """Let tasks have twins."""
    provide(PART, _equipped)


def _equipped(task: Task, text: str) -> Task:
    from isthmus.firmware.twin import links, load_twin

    return replace(task, links=links(load_twin(checked_file(text, WHAT)), task.robot_model.spec))
