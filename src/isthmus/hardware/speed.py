"""How fast a stand-in's time goes."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from isthmus.core import Lost, Problem
from isthmus.hardware.address import RobotAddress, require_dds
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import Graph, message, parameter
from isthmus.hardware.ros1.messages import SPEED
from isthmus.hardware.ros2.address import Ros2Address
from isthmus.hardware.stop import Stop

PATIENCE = 5.0
"""Seconds that a stand-in has to change its speed."""


@contextmanager
def at_speed(address: RobotAddress, speed: float, stop: Stop) -> Generator[None]:
    """Have a stand-in's time go at `speed` times the wall's for a while; a robot's cannot.

    What went wrong in the meantime is what the user has to know. A stand-in that is gone cannot slow down again, and
    nothing is said of that.
    """
    if speed == 1:
        yield
        return
    be_fast(address, speed, stop)
    try:
        yield
    except BaseException:
        with suppress(Problem, OSError):
            be_fast(address, 1.0, Stop(), patience=0.5)
        raise
    be_fast(address, 1.0, stop)


def be_fast(address: RobotAddress, speed: float, stop: Stop, patience: float = PATIENCE) -> None:
    """Have a stand-in's time go at `speed` times the wall's from now on."""
    if isinstance(address, Ros2Address):
        change = _over_ros2(address, speed)
    elif isinstance(address, Address):
        change = _over_ros1(address, speed, stop)
    else:
        raise Problem(f"the robot at {address} lives in real time: its speed is 1")
    end = time.monotonic() + patience
    with change as has_changed:
        while time.monotonic() < end:
            if has_changed():
                stop.wait(0.2)  # for its clock to have come round
                return
            if stop.wait(0.05):
                raise Lost(f"stopped ({stop.why}) before anything moved")
    raise Problem(f"the robot at {address} does not go at {speed:g} times its speed: only a stand-in does")


@contextmanager
def _over_ros1(address: Address, speed: float, stop: Stop) -> Generator[Callable[[], bool]]:
    """Ask for a speed on the graph; what is given tells whether it is that."""
    publisher = Graph(address, "isthmus").publish(SPEED, message("std_msgs/Float64"), latch=True)
    sent = message("std_msgs/Float64")()
    sent.data = speed
    publisher.publish(sent)

    def has_changed() -> bool:
        if not publisher.get_num_connections():
            return False
        return bool(stop.during(lambda: parameter(address, "/use_sim_time"))) == (speed != 1)

    try:
        yield has_changed
    finally:
        publisher.unregister()


@contextmanager
def _over_ros2(address: Ros2Address, speed: float) -> Generator[Callable[[], bool]]:
    """Ask for a speed in the domain; what is given tells whether it is that."""
    require_dds()
    from isthmus.hardware.ros2 import messages  # noqa: PLC0415 - DDS only where it is used
    from isthmus.hardware.ros2.bus import Bus  # noqa: PLC0415

    bus = Bus(address)
    publisher = bus.publish(messages.SPEED, messages.Float64)
    clock = bus.subscribe(messages.CLOCK, messages.Clock)
    asked = False

    def has_changed() -> bool:
        nonlocal asked
        if publisher.listeners and not asked:  # nothing is kept for those who come later
            publisher.send(messages.Float64(speed))
            asked = True
        return asked and bool(clock.publishers) == (speed != 1)

    try:
        yield has_changed
    finally:
        publisher.close()
        clock.close()
