"""How fast a stand-in's time goes."""

import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from isthmus.core import Lost, Problem
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import Graph, message, parameter
from isthmus.hardware.ros1.messages import SPEED
from isthmus.hardware.stop import Stop

PATIENCE = 5.0
"""Seconds that a stand-in has to change its speed."""


@contextmanager
def at_speed(address: Address, speed: float, stop: Stop) -> Generator[None]:
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


def be_fast(address: Address, speed: float, stop: Stop, patience: float = PATIENCE) -> None:
    """Have a stand-in's time go at `speed` times the wall's from now on."""
    publisher = Graph(address, "isthmus").publish(SPEED, message("std_msgs/Float64"), latch=True)
    sent = message("std_msgs/Float64")()
    sent.data = speed
    publisher.publish(sent)
    end = time.monotonic() + patience
    try:
        while time.monotonic() < end:
            if publisher.get_num_connections() and _has_changed(address, speed, stop):
                stop.wait(0.2)  # for its clock to have come round
                return
            if stop.wait(0.05):
                raise Lost(f"stopped ({stop.why}) before anything moved")
    finally:
        publisher.unregister()
    raise Problem(f"the robot at {address} does not go at {speed:g} times its speed: only a stand-in does")


def _has_changed(address: Address, speed: float, stop: Stop) -> bool:
    return bool(stop.during(lambda: parameter(address, "/use_sim_time"))) == (speed != 1)
