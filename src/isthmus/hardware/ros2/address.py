"""Where a controller is in ROS 2: its domain, the network interface to reach it by, and its name."""

import re
from dataclasses import dataclass

from isthmus.core import Problem
from isthmus.hardware.driver import Commands

SCHEME = "ros2"
LAST_DOMAIN = 232
"""DDS has no ports for domains beyond it."""
CONTROLLER = "arm_controller"
TOPICS: dict[Commands, str] = {"position": "joint_trajectory", "effort": "commands"}
"""Where a controller listens: a joint trajectory controller, and a forward command controller."""
LOOPBACK = ("lo", "localhost", "127.0.0.1")
FORM = re.compile(r"ros2://(?P<domain>\d{1,3})(@(?P<interface>[A-Za-z0-9_.:-]{1,40}))?(/(?P<path>[A-Za-z0-9_/]*))?")


@dataclass(frozen=True)
class Ros2Address:
    """A controller in ROS 2: `ros2://DOMAIN@INTERFACE/CONTROLLER`, as in ros2://0@eth0/arm_controller.

    Without an interface, Cyclone DDS chooses one, or its own configuration (CYCLONEDDS_URI) does. The controller may be
    in a namespace, as in left/arm_controller, and may end in the topic it listens to: joint_trajectory or commands.
    """

    domain: int = 0
    interface: str = ""
    path: str = CONTROLLER

    def __post_init__(self) -> None:
        """Refuse a domain that DDS does not have."""
        if not 0 <= self.domain <= LAST_DOMAIN:
            raise Problem(f"ROS 2 has the domains 0 to {LAST_DOMAIN}, not {self.domain}")

    @staticmethod
    def parse(text: str) -> "Ros2Address":
        """The address in `text`."""
        found = FORM.fullmatch(text)
        if found is None:
            raise Problem(
                f"{text!r} is no address of a robot on ROS 2: give its domain and its controller, "
                f"as in ros2://0/{CONTROLLER}, or ros2://0@eth0/{CONTROLLER} for one network interface"
            )
        names = [name for name in (found["path"] or "").split("/") if name]
        return Ros2Address(int(found["domain"]), found["interface"] or "", "/".join(names) or CONTROLLER)

    @property
    def local(self) -> bool:
        """Whether it can be reached on this machine only."""
        return self.interface in LOOPBACK

    def topic(self, commands: Commands) -> str:
        """Where the controller takes commands."""
        if self.path.rpartition("/")[2] in TOPICS.values():
            return f"/{self.path}"
        return f"/{self.path}/{TOPICS[commands]}"

    @property
    def joint_states(self) -> str:
        """Where the robot tells of its joints: beside the controller, in the same namespace."""
        names = self.path.split("/")
        depth = 2 if names[-1] in TOPICS.values() else 1
        return "/" + "/".join([*names[:-depth], "joint_states"])

    def __str__(self) -> str:
        """As we write it."""
        interface = f"@{self.interface}" if self.interface else ""
        return f"{SCHEME}://{self.domain}{interface}/{self.path}"
