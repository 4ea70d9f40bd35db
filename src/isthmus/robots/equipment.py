"""What a task's robot can be given besides, by packages that tasks do not know: as in `hopper+actuator=FILE`.

The command line says who provides it (`provide`), so that neither tasks nor runs import those packages.
"""

import re
from collections.abc import Callable

from isthmus.core import Problem
from isthmus.tasks.task import Task

Equip = Callable[[Task, str], Task]
"""The task with a robot that has what the text describes."""
PART = re.compile(r"\+([a-z]+)=")
_PROVIDERS: dict[str, Equip] = {}


def provide(name: str, equip: Equip) -> None:
    """Let tasks have `+name=...`."""
    _PROVIDERS[name] = equip


def base_of(text: str) -> str:
    """The text of a task without what its robot is given besides."""
    return PART.split(text, maxsplit=1)[0]


def equipped(task: Task, text: str) -> Task:
    """The task with all that its text gives the robot besides."""
    _, *parts = PART.split(text)
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        if name not in _PROVIDERS:
            known = ", ".join(sorted(_PROVIDERS)) or "nothing: use the isthmus command, which provides it"
            raise Problem(f"nobody provides {name!r} for a robot here; there is {known}")
        task = _PROVIDERS[name](task, value)
    return task
