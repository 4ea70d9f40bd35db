"""How a run gets to its target: one in simulation is made, a real one is connected and let go of again."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from isthmus.core import Episode, Lost, Problem
from isthmus.gaps import Gap
from isthmus.hardware import Stop
from isthmus.hardware.address import RobotAddress, parse_address
from isthmus.hardware.stop import KEPT
from isthmus.sysid.forward_model import fit_forward_model
from isthmus.tasks import Task
from isthmus.transfer.config import Config
from isthmus.transfer.folder import LOCK, RunFolder
from isthmus.transfer.manifest import NAME as MANIFEST
from isthmus.transfer.targets.spec import Kind, TargetSpec
from isthmus.transfer.targets.target import MakeWorld, SimulatedTarget, Target

if TYPE_CHECKING:
    from isthmus.hardware.oversight import Abandon
    from isthmus.transfer.targets.robot import Attended

Connect = Callable[[RunFolder], AbstractContextManager[Target]]
"""From the folder of a run, which is its own by then, the target for as long as it is used."""


@dataclass(frozen=True)
class Setup:
    """What a target is made from, besides the value that names it."""

    config: Config
    task: Task
    gap: Gap
    """As it is for the task's robot; no gap for targets that are not simulated."""
    attended: "Attended | None" = None
    """Who is with a robot while it moves."""
    stop: Stop = field(default_factory=Stop)
    """Holds an environment."""
    abandon: "Abandon | None" = None
    """Ends the process if an environment's code cannot be interrupted."""
    emulated: Callable[[str], MakeWorld] | None = None
    """From a board file to robots that their own firmware drives: whoever runs this passes it in."""
    recorded: Sequence[Episode] = ()
    """What a robot was recorded doing before the run."""


def make_target(spec: TargetSpec, setup: Setup) -> Connect:
    """The way to a target.

    A target in simulation is there at once: one that cannot be made is refused before anything is written. No robot and
    no environment is touched before the run folder is claimed.
    """
    return MAKERS[spec.kind](spec, setup)


def _simulated(_spec: TargetSpec, setup: Setup) -> Connect:
    target = SimulatedTarget(setup.task, setup.gap, setup.config.evaluation_episodes)
    return lambda _folder: nullcontext(target)


def _gymnasium(spec: TargetSpec, setup: Setup) -> Connect:
    from isthmus.sim.environment import check_environment  # noqa: PLC0415 - Gymnasium only where it is used

    check_environment(spec.value)
    return lambda folder: _environment(spec.value, setup, folder)


def _firmware(spec: TargetSpec, setup: Setup) -> Connect:
    if setup.emulated is None:
        raise Problem(f"{spec} is a target of the command line: `isthmus transfer TASK --target {spec}`")
    target = SimulatedTarget(setup.task, setup.gap, setup.config.evaluation_episodes, setup.emulated(spec.value))
    return lambda _folder: nullcontext(target)


def _robot(spec: TargetSpec, setup: Setup) -> Connect:
    return lambda folder: _connected(parse_address(str(spec)), setup, folder)


def _logs(_spec: TargetSpec, setup: Setup) -> Connect:
    """The simulator as logs put it right: nothing else is known of the robot."""
    if not setup.recorded:
        raise Problem("a target that is known by its logs needs them: `isthmus transfer TASK --logs FILE ...`")
    forward = fit_forward_model(setup.task.robot_model, setup.recorded)
    target = SimulatedTarget(setup.task, setup.gap, setup.config.evaluation_episodes, lambda _task, n: forward.world(n))

    def connect(folder: RunFolder) -> AbstractContextManager[Target]:
        folder.keep_json(folder.forward_path, asdict(forward.fitted))
        return nullcontext(target)

    return connect


MAKERS: dict[Kind, Callable[[TargetSpec, Setup], Connect]] = {
    "gap": _simulated,
    "gym": _gymnasium,
    "ros": _robot,
    "ros2": _robot,
    "udp": _robot,
    "firmware": _firmware,
    "logs": _logs,
}
"""How to get to a target of each kind."""


@contextmanager
def _environment(name: str, setup: Setup, folder: RunFolder) -> Generator[Target]:
    """Somebody's environment; however this ends, it is held if it can be, and closed."""
    from isthmus.transfer.targets.gymnasium import EnvironmentTarget  # noqa: PLC0415 - Gymnasium only where it is used

    stop = setup.stop
    try:
        target = EnvironmentTarget(
            setup.task, name, setup.config.evaluation_episodes, setup.config.safety, stop, setup.abandon
        )
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
def _connected(address: RobotAddress, setup: Setup, folder: RunFolder) -> Generator[Target]:
    """The robot at an address; however this ends, it is left holding, and what happened is written."""
    from isthmus.transfer.targets.robot import RobotTarget  # noqa: PLC0415 - only where it is used

    config = setup.config
    arm = RobotTarget(setup.task, address, config.evaluation_episodes, config.safety, setup.attended)
    try:
        yield arm
    finally:
        arm.close()
        folder.save_robot(arm.facts())
