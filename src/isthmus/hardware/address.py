"""Addresses of robots, and the drivers for them. A new driver is added to `SCHEMES` and to `open_driver`."""

from collections.abc import Callable, Sequence

from isthmus.core import Problem
from isthmus.hardware.driver import Commands, Driver
from isthmus.hardware.ros1.address import Address as Ros1Address
from isthmus.hardware.ros2.address import Ros2Address
from isthmus.hardware.udp.address import UdpAddress

RobotAddress = Ros1Address | Ros2Address | UdpAddress
"""Where a robot is, and by what it is driven."""
SCHEMES: dict[str, Callable[[str], RobotAddress]] = {
    "ros": Ros1Address.parse,
    "ros2": Ros2Address.parse,
    "udp": UdpAddress.parse,
}
FORMS = "ros://HOST:PORT, ros2://DOMAIN@INTERFACE/CONTROLLER or udp://HOST:PORT"


def parse_address(text: str) -> RobotAddress:
    """The address in `text`."""
    scheme = text.partition("://")[0]
    if scheme not in SCHEMES:
        raise Problem(f"{text!r} is no address of a robot: give {FORMS}")
    return SCHEMES[scheme](text)


def open_driver(address: RobotAddress, joints: Sequence[str], commands: Commands = "position") -> Driver:
    """A driver for the robot at `address`, that is not connected yet."""
    if isinstance(address, Ros2Address):
        require_dds()
        from isthmus.hardware.ros2.driver import Ros2Driver  # noqa: PLC0415 - DDS only where it is used

        return Ros2Driver(address, joints, commands)
    if isinstance(address, UdpAddress):
        from isthmus.hardware.udp.driver import UdpDriver  # noqa: PLC0415 - as the others

        return UdpDriver(address, joints, commands)
    if commands != "position":
        raise Problem(f"{address} is an arm controller that takes positions: this robot is commanded by {commands}")
    from isthmus.hardware.ros1.driver import Ros1Driver  # noqa: PLC0415 - ROS only where it is used

    return Ros1Driver(address, joints)


def require_dds() -> None:
    """Refuse to go on without Cyclone DDS."""
    try:
        import cyclonedds  # noqa: F401, PLC0415 # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise Problem("ROS 2 needs Cyclone DDS, which is not installed: pip install isthmus[ros2]") from None
