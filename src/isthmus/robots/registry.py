"""The tasks there are, by name."""

import runpy
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import mujoco

from isthmus.core import Problem, unknown_name
from isthmus.robots.ant import ant_spec, make_ant
from isthmus.robots.anymal.task import make_anymal, walking_spec
from isthmus.robots.equipment import base_of, equipped
from isthmus.robots.fetch.task import fetch_spec, make_fetch_swing
from isthmus.robots.humanoid import humanoid_spec, make_humanoid
from isthmus.robots.leg import leg_spec, make_leg_squat
from isthmus.robots.planar_walkers import (
    half_cheetah_spec,
    hopper_spec,
    make_half_cheetah,
    make_hopper,
    make_walker2d,
    walker2d_spec,
)
from isthmus.robots.reacher import make_reacher, reacher_spec
from isthmus.tasks.task import Task


@dataclass(frozen=True)
class TaskKind:
    """A task that can be made, perhaps with options."""

    name: str
    summary: str
    make: Callable[..., Task]
    """Makes it, of its own model or of a compiled `model` that is given."""
    mjcf: Callable[..., mujoco.MjSpec]
    """Makes its MuJoCo model, with the same options."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keyword arguments of `make`, each a number, with what it means."""


TASKS = {
    kind.name: kind
    for kind in (
        TaskKind(
            "reacher",
            "two-link arm in a plane whose fingertip is to reach a target (11-D, 2 actuators)",
            make_reacher,
            reacher_spec,
            {"arm_mass": "mass of the arm in kg (34, as in the paper; 0 is Gymnasium's 75 g)"},
        ),
        TaskKind("hopper", "planar leg that moves forward by hopping (12-D, 3 actuators)", make_hopper, hopper_spec),
        TaskKind("half-cheetah", "planar two-legged runner (17-D, 6 actuators)", make_half_cheetah, half_cheetah_spec),
        TaskKind("humanoid", "three-dimensional walker (376-D, 17 actuators)", make_humanoid, humanoid_spec),
        TaskKind("walker2d", "planar biped (18-D, 6 actuators)", make_walker2d, walker2d_spec),
        TaskKind("ant", "four-legged walker (27-D, 8 actuators)", make_ant, ant_spec),
        TaskKind(
            "fetch-swing",
            "fast swings of the Fetch arm under position control (16-D, 7 actuators); needs isthmus[fetch]",
            make_fetch_swing,
            fetch_spec,
        ),
        TaskKind(
            "leg-squat",
            "one leg on a rail that squats in time, behind a PD controller (9-D, 3 actuators)",
            make_leg_squat,
            leg_spec,
            {"frequency": "squats a second (1)"},
        ),
        TaskKind(
            "anymal",
            "ANYmal B that walks at a commanded speed (37-D, 12 actuators); needs isthmus[anymal]",
            make_anymal,
            walking_spec,
        ),
    )
}


def is_code(text: str) -> bool:
    """Whether this names a robot file: loading it runs the Python code in it."""
    return base_of(text).endswith(".py")


def load_task(text: str) -> Task:
    """The task of that name, perhaps with options, or in a file: `reacher`, `reacher:arm-mass=3.5`, `my_robot.py`.

    The robot may be given more: `hopper+actuator=FILE`.
    """
    return equipped(_bare_task(base_of(text)), text)


def task_with_model(text: str, model: mujoco.MjModel) -> Task:
    """The task of that name, perhaps with options, whose robot is a compiled `model`: no file of a model is looked for.

    What the robot may be given more is left out.
    """
    kind, numbers = _shipped(base_of(text))
    return kind.make(**numbers, model=model)


def mjcf_of(text: str) -> mujoco.MjSpec:
    """The MuJoCo model of a task that ships, ready to be compiled, without what the robot may be given more."""
    kind, numbers = _shipped(base_of(text))
    return kind.mjcf(**numbers)


def _bare_task(text: str) -> Task:
    if is_code(text):
        return _task_in_file(Path(text))
    kind, numbers = _shipped(text)
    return kind.make(**numbers)


def _shipped(text: str) -> tuple[TaskKind, dict[str, float]]:
    """The kind of a task that ships, and its options."""
    name, _, options = text.partition(":")
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    kind, numbers = TASKS[name], dict[str, float]()
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        key = key.strip().replace("-", "_")
        if key not in kind.options:
            raise unknown_name(f"option of task {name!r}:", key.replace("_", "-"), _dashed(kind))
        if key in numbers:
            raise Problem(f"option {key.replace('_', '-')!r} is given twice in {text!r}: give it once")
        try:
            numbers[key] = float(value)
        except ValueError as error:
            raise Problem(
                f"option {option!r} of task {name!r} needs a number, as in {key}=1".replace("_", "-")
            ) from error
    return kind, numbers


def _task_in_file(path: Path) -> Task:
    """What `make_task()` gives in a Python file of the user's; running it is what they asked for."""
    if not path.is_file():
        raise Problem(f"there is no robot at {path}: give a Python file that defines make_task()")
    try:
        make: object = runpy.run_path(str(path)).get("make_task")
        task: object = make() if callable(make) else None
    except Problem:
        raise
    except (Exception, SystemExit) as error:
        raise Problem(f"the robot file {path} fails{_line(error, path)}: {type(error).__name__}: {error}") from error
    if not isinstance(task, Task):
        raise Problem(f"{path} has no make_task() that returns a Task")
    return task


def _line(error: BaseException, path: Path) -> str:
    """Where in the file it went wrong: the innermost line of it, as the user can mend that one."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f" in line {error.lineno}"
    numbers = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f" in line {numbers[-1]}" if numbers else ""


def _dashed(kind: TaskKind) -> list[str]:
    return [option.replace("_", "-") for option in kind.options]
