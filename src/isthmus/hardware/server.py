"""The robot's end of a driver, for simulated robots: what a real one has in its own firmware or controller."""

from collections.abc import Callable
from typing import Protocol

from isthmus.core import Float
from isthmus.hardware.driver import JointReading
from isthmus.hardware.goal import Cancel, Goal

Hear = Callable[[Goal | Cancel], None]
"""Takes what the robot is asked for, in a thread of the server's."""


class Server(Protocol):
    """Takes commands, and tells of the joints."""

    def open(self, hear: Hear, be_fast: Callable[[float], None], *, simulated: bool) -> None:
        """Let the robot be found; `be_fast` takes how many times as fast as the wall's its time is to go."""
        ...

    def go_simulated(self, *, simulated: bool) -> None:
        """Tell whether the robot's time is its own from now on."""
        ...

    def tell_joints(self, reading: JointReading, efforts: Float) -> None:
        """Tell of the joints."""
        ...

    def tell_time(self, now: float) -> None:
        """Tell the time, where it is the robot's own."""
        ...

    def close(self) -> None:
        """Be found no longer."""
        ...
