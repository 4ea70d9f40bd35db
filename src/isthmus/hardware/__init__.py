"""What stands before every real target, whatever it is connected by: limits, plausibility, watchdog, stop, clocks."""

from isthmus.hardware.clock_offset import ClockOffset
from isthmus.hardware.following import Following
from isthmus.hardware.guard import Guard, Limits, Unsafe
from isthmus.hardware.readings import ReadingCheck
from isthmus.hardware.safety import SafetySettings
from isthmus.hardware.stop import Stop
from isthmus.hardware.watchdog import Watchdog

__all__ = [
    "ClockOffset",
    "Following",
    "Guard",
    "Limits",
    "ReadingCheck",
    "SafetySettings",
    "Stop",
    "Unsafe",
    "Watchdog",
]
