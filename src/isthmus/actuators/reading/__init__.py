"""Read logs of other people's making: which column is what, in which units, and whether the numbers can be right."""

from isthmus.actuators.reading.mapping import Mapping
from isthmus.actuators.reading.read import Reading, read_logs

__all__ = ["Mapping", "Reading", "read_logs"]
