"""A ROS master and stand-in robots for tests; without ROS, tests are skipped with the reason."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from isthmus.core import Estimator, Float, WorldSpec
from isthmus.hardware import Guard, Limits, ReadingCheck, SafetySettings
from isthmus.hardware.ros1 import Address, RosWorld
from isthmus.hardware.ros1.arm_link import RosArmLink
from isthmus.hardware.ros1.bindings import find_ros
from isthmus.hardware.ros1.processes import free_port, stand_in
from isthmus.robots import load_task
from isthmus.robots.fetch.arm import JOINTS, REACH, SPEED_LIMITS
from isthmus.robots.fetch.task import at_start
from isthmus.tasks import Task


@pytest.fixture(scope="session")
def fetch() -> Task:
    if find_spec("gymnasium_robotics") is None:
        pytest.skip("the Fetch's model is not installed: pip install isthmus[fetch]")
    return load_task("fetch-swing")


@pytest.fixture(scope="session")
def address() -> Address:
    """The one address of this process: rospy cannot change to another."""
    missing = find_ros()
    if missing:
        pytest.skip(missing)
    return Address(port=free_port())


@pytest.fixture(scope="module")
def master(address: Address) -> Generator[Address]:
    from isthmus.hardware.ros1.processes import ros_master

    with ros_master(address):
        yield address


@pytest.fixture
def robot(master: Address) -> Callable[..., AbstractContextManager[Any]]:
    """Starts a stand-in, as a context that gives its process."""

    def start(*options: str, speed: float = 20.0) -> AbstractContextManager[Any]:
        return stand_in(master, speed=speed, options=options)

    return start


def clocked(observation: Float) -> Float:
    moved = observation.copy()
    moved[14] += 0.1
    return moved


def limits(spec: WorldSpec, safety: SafetySettings) -> Limits:
    names, period = spec.action_names, spec.control_period
    return Limits.of_positions(spec.action_low, spec.action_high, SPEED_LIMITS, period, safety, names)


def make_world(
    link: object, spec: WorldSpec, safety: SafetySettings | None = None, estimator: Estimator | None = None
) -> RosWorld:
    safety = safety or SafetySettings()
    return RosWorld(
        link,  # type: ignore[arg-type]
        spec,
        Guard(limits(spec, safety)),
        begin=lambda _rng: at_start(np.array([0.0]))[0],
        go_on=clocked,
        speeds=SPEED_LIMITS,
        stale=safety.stale,
        overrun=safety.overrun,
        patience=safety.patience,
        estimator=estimator,
    )


@pytest.fixture
def over(fetch: Task) -> Generator[Callable[..., RosWorld]]:
    """Makes a world over a link, closed at the end."""
    made: list[RosWorld] = []

    def make(link: object, estimator: Estimator | None = None, **safety: float) -> RosWorld:
        # Who tests has more patience than who runs a robot: on a busy machine a stand-in may be silent for seconds.
        settings = SafetySettings(**{"patience": 20.0} | safety)
        made.append(make_world(link, fetch.robot_model.spec, settings, estimator))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world_at(over: Callable[..., RosWorld]) -> Callable[..., RosWorld]:
    """Makes a world over ROS."""
    return lambda address, **safety: over(
        RosArmLink(address, JOINTS, check=ReadingCheck(-REACH, REACH, SPEED_LIMITS, JOINTS)), **safety
    )
