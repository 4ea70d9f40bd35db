"""From an address to a robot that a bundle can be run on."""

from collections.abc import Callable

import numpy as np

from isthmus.core import Float, Problem
from isthmus.deploy.loop import Robot
from isthmus.deploy.observed import ObservedRobot
from isthmus.deploy.simulated import SimulatedRobot
from isthmus.gaps import Gap
from isthmus.hardware import SafetySettings, Stop
from isthmus.hardware.address import RobotAddress, open_driver, parse_address
from isthmus.hardware.link import Link
from isthmus.hardware.real_robot import Wiring
from isthmus.hardware.world import RobotWorld
from isthmus.tasks import Task

SIMULATOR, DECLARED = "sim", "declared"
"""In place of an address: the bundle's own simulator, and the driver that the robot file declares."""


def address_of(task: Task, text: str) -> RobotAddress:
    """The address in `text`, or the one that the task declares; the task must say what a real robot needs."""
    task.wired()
    if text != DECLARED:
        return parse_address(text)
    if task.real is None or not task.real.driver:
        raise Problem(f"{task.name} declares no driver: give the robot's address in place of --robot {DECLARED}")
    return parse_address(task.real.driver)


def simulated_robot(task: Task, gap: str, safety: SafetySettings, stop: Stop, speed: float = 1.0) -> SimulatedRobot:
    """The bundle's own simulator, perhaps behind a gap, in wall time."""
    return SimulatedRobot(task.trial.target(Gap.parse(gap)), _wiring(task), safety, stop, speed=speed)


def real_robot(task: Task, address: RobotAddress, safety: SafetySettings, stop: Stop) -> Robot:
    """The robot at an address, behind guard, watchdog and stop."""
    wiring = task.wired()
    link = Link(open_driver(address, wiring.joints, wiring.commands), stop, wiring.check())
    link.meet(safety.patience)
    return _Driven(
        link,
        task.robot_model.spec,
        wiring,
        safety,
        begin=_start(task),
        go_on=task.go_on,
        estimator=task.made_estimator(),
    )


def observed_robot(task: Task, address: RobotAddress, safety: SafetySettings, stop: Stop) -> ObservedRobot:
    """The robot at an address, which is only looked at."""
    wiring = task.wired()
    return ObservedRobot(
        open_driver(address, wiring.joints, wiring.commands),
        task.robot_model.spec,
        wiring,
        stop,
        begin=_start(task),
        go_on=task.go_on,
        patience=safety.patience,
        estimator=task.made_estimator(),
    )


class _Driven(RobotWorld):
    @property
    def lateness(self) -> list[float]:
        """Seconds from each deadline to the command."""
        return self.pace.lateness


def _wiring(task: Task) -> Wiring | None:
    """How a real robot of the task is driven; None where the task does not say."""
    try:
        return task.wired()
    except Problem:
        return None


def _start(task: Task) -> Callable[[np.random.Generator], Float]:
    """Draws where an episode begins, as the task is judged."""
    world = task.trial.source()
    return lambda rng: world.reset(rng)[0]
