"""Start a simulated robot on a ROS graph."""

import signal
import time
from dataclasses import dataclass

from tyro.conf import Positional

from isthmus.cli.output import stderr
from isthmus.core import unknown_name

ROBOTS = ("fetch",)


@dataclass(frozen=True)
class Up:
    """Start a stand-in robot on a ROS graph, and a ROS master where there is none; Ctrl-C ends both.

    Example: `isthmus robot up fetch`

    Example: `isthmus robot up fetch --address ros://127.0.0.1:11312 --speed 20`
    """

    robot: Positional[str] = "fetch"
    """fetch."""
    address: str = "ros://127.0.0.1:11311"
    """Where the ROS master is, or is to be."""
    which: str = "first"
    """One of the robots that were drawn: first, or second, which is kept for a final evaluation."""
    speed: float = 1.0
    """How many times as fast as real time; other than 1 it has a clock of its own (/use_sim_time)."""
    seed: int = 0
    """Decides the jitter on the wire."""

    def run(self) -> None:
        """Stay until interrupted, or until the robot ends."""
        from isthmus.hardware.ros1.address import Address
        from isthmus.hardware.ros1.processes import ros_master, stand_in

        if self.robot not in ROBOTS:
            raise unknown_name("robot", self.robot, ROBOTS)
        address = Address.parse(self.address)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the robot and the master end with us in any case
        with (
            ros_master(address),
            stand_in(address, robot=self.which, speed=self.speed, seed=self.seed) as process,
        ):
            stderr.print(f"the stand-in {self.robot} is up at {address}: Ctrl-C ends it", soft_wrap=True)
            while process.poll() is None:
                time.sleep(0.2)
