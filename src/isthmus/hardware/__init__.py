"""What stands before every real target, whatever it is connected by: limits, plausibility, watchdog, stop, clocks."""

from isthmus.hardware.clock import ClockOffset
from isthmus.hardware.guard import Guard, Limits, SafetySettings, Unsafe
from isthmus.hardware.readings import Following, ReadingCheck
from isthmus.hardware.real_robot import RealRobot
from isthmus.hardware.stop import Stop
from isthmus.hardware.watchdog import Watchdog

__all__ = [
    "ClockOffset",
    "Following",
    "Guard",
    "Limits",
    "ReadingCheck",
    "RealRobot",
    "SafetySettings",
    "Stop",
    "Unsafe",
    "Watchdog",
]
