"""`python -m isthmus.robots.fetch.standin`: the stand-in robot as a process of its own."""

import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from isthmus.core import Problem, check_settings
from isthmus.hardware.address import parse_address
from isthmus.hardware.ros1.address import Address
from isthmus.robots.fetch.standin.faults import FaultSettings
from isthmus.robots.fetch.standin.node import Node, NodeSettings
from isthmus.robots.fetch.standin.parameters import load_parameters


@dataclass(frozen=True)
class Arguments:
    """A stand-in for a Fetch: on the graph of a running ROS master, in a ROS 2 domain, or over UDP."""

    address: str = str(Address())
    """Where it is to be found: the ROS master, ros2://DOMAIN@INTERFACE/CONTROLLER, or udp://HOST:PORT."""
    robot: str = "first"
    """Which of the robots that were drawn."""
    speed: float = 1.0
    """How many times as fast as real time."""
    seed: int = 0
    """Decides the jitter on the wire."""
    patience: float = 2.0
    """Seconds of wall time that a clock faster than the wall's waits for a goal that is due."""
    log: Path | None = None
    """Where to write what happens to the arm, line by line."""
    faults: FaultSettings = field(default_factory=FaultSettings)


def main() -> int:
    """Run until interrupted."""
    given = tyro.cli(Arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        check_settings((("speed", given.speed, given.speed > 0), ("seed", given.seed, given.seed >= 0)))
        node = Node(
            parse_address(given.address),
            load_parameters(given.robot),
            NodeSettings(given.speed, given.seed, given.patience, given.faults, given.log),
        )
    except Problem as problem:
        sys.stderr.write(f"stand-in: {problem}\n")
        return 2
    signal.signal(signal.SIGUSR1, lambda _number, _frame: node.have_faults(wanted=True))
    signal.signal(signal.SIGUSR2, lambda _number, _frame: node.have_faults(wanted=False))
    with suppress(KeyboardInterrupt):
        node.run()
    node.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
