"""Robots on a ROS graph: a World over ROS."""

from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.world import Pace, RosWorld

__all__ = ["Address", "Pace", "RosWorld"]
