"""What stands before every real target, whatever it is connected by: limits, plausibility, watchdog, stop, clocks."""

from isthmus.hardware.guard import Guard, Limits, Unsafe
from isthmus.hardware.readings import ReadingCheck
from isthmus.hardware.safety import SafetySettings
from isthmus.hardware.stop import Stop
from isthmus.hardware.watchdog import Watchdog

__all__ = ["Guard", "Limits", "ReadingCheck", "SafetySettings", "Stop", "Unsafe", "Watchdog"]
