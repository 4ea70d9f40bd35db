"""Robots on a ROS 1 graph."""

from isthmus.hardware.ros1.address import Address

__all__ = ["Address"]
