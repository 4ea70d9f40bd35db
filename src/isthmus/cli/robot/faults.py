"""Inflict faults on simulated robots that move."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.output import print_json, stderr
from isthmus.core import Problem
from isthmus.hardware.processes import Transport


@dataclass(frozen=True)
class Faults:
    """Inflict every fault on stand-ins that move, and check the promises of docs/safety.md.

    Example: `isthmus robot faults --trials 20 --out docs/results/safety.json`

    Example: `isthmus robot faults --only SIGTERM --trials 3`

    Example: `isthmus robot faults --transport ros2 --trials 5 --workers 2 --out docs/results/ros2-safety.json`
    """

    trials: int = 20
    """Of each fault."""
    transport: Transport = "ros1"
    """By what the robot is reached: ros1, ros2 or udp."""
    only: str = ""
    """Only faults with this in their name."""
    seed: int = 0
    """Decides the jitter on the wire, and when faults come."""
    workers: int = 1
    """Faults that are tried at the same time, each with a robot of its own: no more than there are cores."""
    out: Path | None = None
    """Where to write the trials, as JSON."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the trials and print a table of them."""
        from isthmus.experiments.faults import run_campaign
        from isthmus.hardware.address import require_dds
        from isthmus.hardware.ros1.bindings import require_ros

        if self.transport == "ros1":
            require_ros()
        elif self.transport == "ros2":
            require_dds()
        campaign = run_campaign(
            self.trials,
            self.seed,
            self.workers,
            self.only,
            lambda what: stderr.print(what, markup=False, soft_wrap=True),
            self.transport,
        )
        if self.out is not None:
            campaign.write(self.out)
        if self.json:
            print_json(campaign.to_json())
        else:
            print(campaign.table())
        if campaign.broken:
            raise Problem(f"{campaign.broken} trials broke a promise: see which in the JSON that --out writes")
