"""How a run gets to its target: one in simulation is made, a real one is connected and let go of again."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from isthmus.core import Lost, Problem
from isthmus.gaps import Gap
from isthmus.hardware import Stop
from isthmus.hardware.ros1 import Address
from isthmus.tasks import Task
from isthmus.transfer.config import Config
from isthmus.transfer.folder import LOCK, RunFolder
from isthmus.transfer.manifest import NAME as MANIFEST
from isthmus.transfer.targets.target import SimulatedTarget, Target

if TYPE_CHECKING:
    from isthmus.hardware.oversight import Abandon
    from isthmus.transfer.targets.ros1 import Attended

KEPT = "what was collected is kept, and the same command with --resume goes on"
Connect = Callable[[RunFolder], AbstractContextManager[Target]]
"""From the folder of a run, which is its own by then, the target for as long as it is used."""


def connection(
    config: Config,
    task: Task,
    gap: Gap,
    attended: "Attended | None",
    stop: Stop | None = None,
    abandon: "Abandon | None" = None,
) -> Connect:
    """The way to the target of `config`.

    A target in simulation is there at once: one that cannot be made is refused before anything is written. No robot and
    no environment is touched before the run folder is claimed. `stop` holds an environment, and `abandon` ends the
    process if its code cannot be interrupted.
    """
    address = config.robot
    if address is not None:
        return lambda folder: _robot(address, config, folder, task, attended)
    name = config.environment
    if name is not None:
        from isthmus.sim.environment import check_environment  # noqa: PLC0415 - Gymnasium only where it is used

        check_environment(name)
        return lambda folder: _environment(name, config, folder, task, stop or Stop(), abandon)
    target = SimulatedTarget(task, gap, config.evaluation_episodes)
    return lambda _folder: nullcontext(target)


@contextmanager
def _environment(
    name: str, config: Config, folder: RunFolder, task: Task, stop: Stop, abandon: "Abandon | None"
) -> Generator[Target]:
    """Somebody's environment; however this ends, it is held if it can be, and closed."""
    from isthmus.transfer.targets.gymnasium import EnvironmentTarget  # noqa: PLC0415 - Gymnasium only where it is used

    try:
        target = EnvironmentTarget(task, name, config.evaluation_episodes, config.safety, stop, abandon)
    except KeyboardInterrupt as error:
        _forget_unused(folder)
        raise _as_sentence(error, stop) from error
    except BaseException:
        _forget_unused(folder)
        raise
    try:
        yield target
    except (KeyboardInterrupt, Problem) as error:
        raise _as_sentence(error, stop, target.close()) from error
    except BaseException:
        target.close()
        raise
    if trouble := target.close():
        raise Problem(f"{name} is finished with, but {trouble}; the run is complete: --resume shows it")


def _as_sentence(error: KeyboardInterrupt | Problem, stop: Stop, trouble: str = "") -> BaseException:
    """The error as one sentence: an interruption by who asked for it, with what went wrong in closing."""
    if isinstance(error, Problem):
        return type(error)(str(error) if trouble in str(error) else f"{error}; {trouble}")
    return (
        Lost("; ".join(filter(None, (f"stopped ({stop.why})", trouble, KEPT)))) if stop.asked else KeyboardInterrupt()
    )


def _forget_unused(folder: RunFolder) -> None:
    """Leave no run folder behind for a run that could not begin: its name can be used again."""
    if {path.name for path in folder.path.iterdir()} <= {folder.config_path.name, LOCK, MANIFEST}:
        for path in folder.path.iterdir():
            path.unlink()
        folder.path.rmdir()


@contextmanager
def _robot(
    address: Address, config: Config, folder: RunFolder, task: Task, attended: "Attended | None"
) -> Generator[Target]:
    """The arm at the other end of a ROS graph; however this ends, it is left holding, and what happened is written."""
    from isthmus.transfer.targets.ros1 import RosTarget  # noqa: PLC0415 - ROS only where it is used

    arm = RosTarget(task, address, config.evaluation_episodes, config.safety, attended)
    try:
        yield arm
    finally:
        arm.close()
        folder.save_robot(arm.facts())
