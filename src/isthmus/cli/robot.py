"""A robot to cross to, where there is no real one."""

import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from isthmus.cli.output import stderr
from isthmus.core import Problem, unknown_name

ACTIONS, ROBOTS = ("up", "faults"), ("fetch",)


@dataclass(frozen=True)
class Robot:
    """Start a stand-in robot on a ROS graph, and a ROS master where there is none; Ctrl-C ends both.

    Example: `isthmus robot up fetch`

    Or inflict every fault on stand-ins that move, and see whether the promises of docs/safety.md are kept.

    Example: `isthmus robot faults --trials 20 --out docs/results/safety.json`
    """

    action: Positional[str]
    """up or faults."""
    robot: Positional[str] = "fetch"
    """fetch."""
    address: str = "ros://127.0.0.1:11311"
    """Where the ROS master is, or is to be."""
    which: str = "first"
    """One of the robots that were drawn: first, or second, which is kept for a final evaluation."""
    speed: float = 1.0
    """How many times as fast as real time; other than 1 it has a clock of its own (/use_sim_time)."""
    seed: int = 0
    """Decides the jitter on the wire, and when faults come."""
    trials: int = 20
    """Of each fault."""
    lanes: int = 1
    """Faults that are tried at the same time, each with a robot of its own: no more than there are cores."""
    only: str = ""
    """Only faults with this in their name."""
    out: Path | None = None
    """Where to write the trials of the faults, as JSON."""

    def run(self) -> None:
        """Do what is asked for."""
        if self.action not in ACTIONS:
            raise unknown_name("action", self.action, ACTIONS)
        if self.robot not in ROBOTS:
            raise unknown_name("robot", self.robot, ROBOTS)
        if self.action == "faults":
            self._inflict_faults()
        else:
            self._stay_up()

    def _inflict_faults(self) -> None:
        from isthmus.experiments.faults import run_campaign
        from isthmus.hardware.ros1.bindings import require_ros

        require_ros()
        campaign = run_campaign(
            self.trials, self.seed, self.lanes, self.only, lambda what: stderr.print(what, markup=False, soft_wrap=True)
        )
        if self.out is not None:
            campaign.write(self.out)
        print(campaign.table())
        if campaign.broken:
            raise Problem(f"{campaign.broken} trials broke a promise: see which in the JSON that --out writes")

    def _stay_up(self) -> None:
        """Stay until interrupted, or until the robot ends."""
        from isthmus.hardware.ros1.address import Address
        from isthmus.hardware.ros1.processes import ros_master, stand_in

        address = Address.parse(self.address)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the robot and the master end with us in any case
        with (
            ros_master(address),
            stand_in(address, robot=self.which, speed=self.speed, seed=self.seed) as process,
        ):
            stderr.print(f"the stand-in {self.robot} is up at {address}: Ctrl-C ends it", soft_wrap=True)
            while process.poll() is None:
                time.sleep(0.2)
