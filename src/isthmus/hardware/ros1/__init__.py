"""Robots on a ROS graph: a World over ROS."""

from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.pace import Pace
from isthmus.hardware.ros1.world import RosWorld

__all__ = ["Address", "Pace", "RosWorld"]
