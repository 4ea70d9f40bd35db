"""How a run gets to its target: one in simulation is made, a robot is connected and let go of again."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from isthmus.gaps import Gap
from isthmus.ros import Address
from isthmus.tasks import Task
from isthmus.transfer.config import Config
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.target import SimulatedTarget, Target

if TYPE_CHECKING:
    from isthmus.transfer.ros_target import Attended

Connect = Callable[[RunFolder], AbstractContextManager[Target]]
"""From the folder of a run, which is its own by then, the target for as long as it is used."""


def connection(config: Config, task: Task, gap: Gap, attended: "Attended | None") -> Connect:
    """The way to the target of `config`.

    A target in simulation is there at once: one that cannot be made is refused before anything is written. No robot is
    touched before the run folder is claimed.
    """
    address = config.robot
    if address is not None:
        return lambda folder: _robot(address, config, folder, task, attended)
    target = _simulated(config, task, gap)
    return lambda _folder: nullcontext(target)


def _simulated(config: Config, task: Task, gap: Gap) -> Target:
    if config.environment is None:
        return SimulatedTarget(task, gap, config.evaluation_episodes)
    from isthmus.transfer.environment_target import EnvironmentTarget  # noqa: PLC0415 - Gymnasium only where it is used

    return EnvironmentTarget(task, config.environment, config.evaluation_episodes)


@contextmanager
def _robot(
    address: Address, config: Config, folder: RunFolder, task: Task, attended: "Attended | None"
) -> Generator[Target]:
    """The arm at the other end of a ROS graph; however this ends, it is left holding, and what happened is written."""
    from isthmus.transfer.ros_target import RosTarget  # noqa: PLC0415 - ROS only where it is used

    arm = RosTarget(task, address, config.evaluation_episodes, config.safety, attended)
    try:
        yield arm
    finally:
        arm.close()
        folder.save_robot(arm.facts())
