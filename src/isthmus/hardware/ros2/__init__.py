"""Robots on ROS 2, over DDS, without a ROS installation."""

from isthmus.hardware.ros2.address import Ros2Address

__all__ = ["Ros2Address"]
