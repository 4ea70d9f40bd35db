"""Stand-in robots, and worlds of a Fetch arm over any link; what needs ROS is skipped without it, with the reason."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from isthmus.core import Estimator, Float
from isthmus.hardware import ReadingCheck, SafetySettings
from isthmus.hardware.address import RobotAddress, open_driver
from isthmus.hardware.link import Link
from isthmus.hardware.processes import free_address, free_port, ros_master, stand_in
from isthmus.hardware.ros1 import Address
from isthmus.hardware.ros1.bindings import find_ros
from isthmus.hardware.world import RobotWorld
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
    with ros_master(address):
        yield address


@pytest.fixture
def transport(request: pytest.FixtureRequest) -> str:
    """By what a stand-in is reached: ROS 1, unless a test is parametrised by `BOTH`."""
    return getattr(request, "param", "ros1")


@pytest.fixture(scope="session")
def domain() -> RobotAddress:
    """A ROS 2 domain that nobody else on this machine is in."""
    if find_spec("cyclonedds") is None:
        pytest.skip("Cyclone DDS is not installed: pip install isthmus[ros2]")
    return free_address("ros2")


@pytest.fixture
def place(transport: str, request: pytest.FixtureRequest) -> RobotAddress:
    """Where a stand-in is to be."""
    return request.getfixturevalue("master" if transport == "ros1" else "domain")


@pytest.fixture
def robot(place: RobotAddress) -> Callable[..., AbstractContextManager[Any]]:
    """Starts a stand-in, as a context that gives its process."""

    def start(*options: str, speed: float = 20.0) -> AbstractContextManager[Any]:
        return stand_in(place, speed=speed, options=options)

    return start


def clocked(observation: Float) -> Float:
    moved = observation.copy()
    moved[14] += 0.1
    return moved


def make_world(
    link: object, task: Task, safety: SafetySettings | None = None, estimator: Estimator | None = None
) -> RobotWorld:
    return RobotWorld(
        link,  # type: ignore[arg-type]
        task.robot_model.spec,
        task.wired(),
        safety or SafetySettings(),
        begin=lambda _rng: at_start(np.array([0.0]))[0],
        go_on=clocked,
        estimator=estimator,
    )


@pytest.fixture
def over(fetch: Task) -> Generator[Callable[..., RobotWorld]]:
    """Makes a world over a link, closed at the end."""
    made: list[RobotWorld] = []

    def make(link: object, estimator: Estimator | None = None, **safety: float) -> RobotWorld:
        # Who tests has more patience than who runs a robot: on a busy machine a stand-in may be silent for seconds.
        settings = SafetySettings(**{"patience": 20.0} | safety)
        made.append(make_world(link, fetch, settings, estimator))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world_at(over: Callable[..., RobotWorld]) -> Callable[..., RobotWorld]:
    """Makes a world at an address."""
    return lambda address, **safety: over(
        Link(open_driver(address, JOINTS), check=ReadingCheck(-REACH, REACH, SPEED_LIMITS, JOINTS)), **safety
    )
