"""Listens in on the holds that a robot is sent, and asks for a stop as a bystander would."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from isthmus.hardware.address import RobotAddress
from isthmus.hardware.ros1 import Address
from isthmus.hardware.ros1.action import CANCEL
from isthmus.hardware.ros1.bindings import Graph, message
from isthmus.hardware.ros1.messages import STOP
from isthmus.hardware.ros2 import Ros2Address


@dataclass(frozen=True)
class Overheard:
    """What a bystander has."""

    stop: Callable[[], None]
    """Publishes a stop."""
    heeded: Callable[[], bool]
    """Whether somebody would hear that."""
    holds: list[float] = field(default_factory=list[float])
    """When holds were on their way, by the wall's clock."""
    close: Callable[[], None] = lambda: None


def overhear(address: RobotAddress) -> Overheard:
    """Listen in on the robot at `address`; over UDP there is nobody who could."""
    if isinstance(address, Ros2Address):
        return _over_ros2(address)
    if isinstance(address, Address):
        return _over_ros1(address)
    return Overheard(lambda: None, lambda: True)


def _over_ros1(address: Address) -> Overheard:
    graph, kind = Graph(address, "faults"), message("std_msgs/Empty")
    stop = graph.publish(STOP, kind)
    heard = Overheard(lambda: stop.publish(kind()), lambda: bool(stop.get_num_connections()))
    graph.subscribe(CANCEL, message("actionlib_msgs/GoalID"), lambda _cancel: heard.holds.append(time.time()))
    return heard


def _over_ros2(address: Ros2Address) -> Overheard:
    from isthmus.hardware.ros2.bus import Bus  # noqa: PLC0415 - DDS only where it is used
    from isthmus.hardware.ros2.messages import HOLD, STOP, Empty  # noqa: PLC0415

    bus, over = Bus(address), threading.Event()
    stop, holds = bus.publish(STOP, Empty), bus.subscribe(HOLD, Empty)
    wait = bus.waiter((holds,))
    heard = Overheard(lambda: stop.send(Empty()), lambda: bool(stop.listeners), close=over.set)

    def listen() -> None:
        while not over.is_set():
            if wait(0.1):
                heard.holds.extend(time.time() for _ in holds.take())

    threading.Thread(target=listen, name="overhear", daemon=True).start()
    return heard
