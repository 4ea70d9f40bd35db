"""Start a simulated robot at an address."""

import signal
import time
from dataclasses import dataclass

from tyro.conf import Positional

from isthmus.cli.output import stderr
from isthmus.core import Problem

FETCH = "fetch"


@dataclass(frozen=True)
class Up:
    """Start a stand-in robot in a process of its own, and a ROS master where it needs one; Ctrl-C ends both.

    Example: `isthmus robot up fetch`

    Example: `isthmus robot up fetch --address ros2://42@lo/arm_controller`

    Example: `isthmus robot up lamp.py --address udp://127.0.0.1:9870 --gap mass:upper=1.8`
    """

    robot: Positional[str] = FETCH
    """fetch, or a task or robot file that declares its real robot."""
    address: str = "ros://127.0.0.1:11311"
    """Where it is to be found: ros://HOST:PORT, ros2://DOMAIN@INTERFACE/CONTROLLER, or udp://HOST:PORT."""
    which: str = "first"
    """Of the Fetch: one of those that were drawn, first, or second, which is kept for a final evaluation."""
    gap: str = "none"
    """Of other robots: how it differs from its simulator, as in mass:upper=1.8."""
    speed: float = 1.0
    """Of the Fetch: how many times as fast as real time; other than 1 it has a clock of its own."""
    seed: int = 0
    """Decides the jitter on the wire, and where other robots begin."""

    def run(self) -> None:
        """Stay until interrupted, or until the robot ends."""
        from isthmus.hardware.address import parse_address
        from isthmus.hardware.processes import other_stand_in, ros_master, stand_in
        from isthmus.robots.registry import TASKS, is_code

        address = parse_address(self.address)
        if self.robot == FETCH and self.gap != "none":
            raise Problem("a stand-in Fetch differs from its simulator as it was drawn: give --which, not --gap")
        if self.robot != FETCH and (self.speed != 1 or self.which != "first"):
            raise Problem("speed and which are those of the Fetch: other robots live in real time, behind --gap")
        if self.robot != FETCH and not is_code(self.robot) and self.robot.partition(":")[0] not in TASKS:
            raise Problem(
                f"unknown robot {self.robot!r}: choose from fetch, or give a file that declares its real robot"
            )
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the robot and the master end with us in any case
        if self.robot == FETCH:
            robot = stand_in(address, robot=self.which, speed=self.speed, seed=self.seed)
        else:
            robot = other_stand_in(address, self.robot, gap=self.gap, seed=self.seed)
        with ros_master(address), robot as process:
            stderr.print(f"the stand-in {self.robot} is up at {address}: Ctrl-C ends it", soft_wrap=True)
            while process.poll() is None:
                time.sleep(0.2)
