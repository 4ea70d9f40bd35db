"""Robots on a ROS graph: a World over ROS."""

from isthmus.ros.address import Address
from isthmus.ros.world import Pace, RosWorld

__all__ = ["Address", "Pace", "RosWorld"]
