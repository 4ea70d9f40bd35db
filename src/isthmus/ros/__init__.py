"""Robots on a ROS graph: a World over ROS, and the safety that is always on there."""

from isthmus.ros.address import Address
from isthmus.ros.safety import Guard, SafetySettings
from isthmus.ros.world import Pace, RosWorld

__all__ = ["Address", "Guard", "Pace", "RosWorld", "SafetySettings"]
