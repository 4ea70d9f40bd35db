"""Robots that speak plain UDP packets: the example of how to write a driver."""

from isthmus.hardware.udp.address import UdpAddress

__all__ = ["UdpAddress"]
