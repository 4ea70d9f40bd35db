"""The tasks there are, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from isthmus.core import Problem, unknown_name
from isthmus.tasks.half_cheetah import make_half_cheetah
from isthmus.tasks.hopper import make_hopper
from isthmus.tasks.reacher import make_reacher
from isthmus.tasks.task import Task


@dataclass(frozen=True)
class TaskKind:
    """A task that can be made, perhaps with options."""

    name: str
    summary: str
    make: Callable[..., Task]
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keyword arguments of `make`, each a number, with what it means."""


TASKS = {
    kind.name: kind
    for kind in (
        TaskKind(
            name="reacher",
            summary="two-link arm in a plane whose fingertip is to reach a target (11-D, 2 actuators)",
            make=make_reacher,
            options={"arm_mass": "mass of the arm in kg (34, as in the paper; 0 is Gymnasium's 75 g)"},
        ),
        TaskKind(
            name="hopper",
            summary="planar leg that moves forward by hopping (12-D, 3 actuators)",
            make=make_hopper,
        ),
        TaskKind(
            name="half-cheetah",
            summary="planar two-legged runner (17-D, 6 actuators)",
            make=make_half_cheetah,
        ),
    )
}


def load_task(text: str) -> Task:
    """The task of that name, perhaps with options: `reacher` or `reacher:arm-mass=3.5`."""
    name, _, options = text.partition(":")
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    kind, numbers = TASKS[name], dict[str, float]()
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        key = key.strip().replace("-", "_")
        if key not in kind.options:
            raise unknown_name(f"option of task {name!r}:", key.replace("_", "-"), _dashed(kind))
        try:
            numbers[key] = float(value)
        except ValueError as error:
            raise Problem(
                f"option {option!r} of task {name!r} needs a number, as in {key}=1".replace("_", "-")
            ) from error
    return kind.make(**numbers)


def _dashed(kind: TaskKind) -> list[str]:
    return [option.replace("_", "-") for option in kind.options]
