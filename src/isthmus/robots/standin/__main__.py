"""`python -m isthmus.robots.standin TASK`: the robot of a task as a process of its own, at an address."""

import json
import queue
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from tyro.conf import Positional

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.hardware.address import RobotAddress, parse_address, require_dds
from isthmus.hardware.driver import Commands, JointReading
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.priority import serve_first
from isthmus.hardware.ros2.address import Ros2Address
from isthmus.hardware.server import Server
from isthmus.hardware.udp.address import UdpAddress
from isthmus.robots.registry import load_task
from isthmus.robots.standin.body import Body

TELL = 0.005
"""Seconds between two readings."""
STALL = 0.1
"""Seconds that the simulation may fall behind before the time is given up."""


@dataclass(frozen=True)
class Arguments:
    """A stand-in for the robot of a task that declares its real one."""

    task: Positional[str]
    """A task's name, or a robot file, which is code and is run."""
    address: str = str(UdpAddress())
    """Where it is to be found: ros2://DOMAIN@INTERFACE/CONTROLLER or udp://HOST:PORT."""
    gap: str = "none"
    """How it differs from its simulator."""
    seed: int = 0
    """Decides where it begins."""
    log: Path | None = None
    """Where to write what happens to it, line by line."""


class Robot:
    """A body at its end of the wire."""

    def __init__(self, body: Body, server: Server, log: Path | None) -> None:
        """Be found."""
        self._body, self._server = body, server
        self._inbox: queue.SimpleQueue[Goal | Cancel] = queue.SimpleQueue()
        self._log = None if log is None else log.open("w", buffering=1, encoding="utf-8")
        self._start = time.time()
        server.open(self._inbox.put, lambda _speed: None, simulated=False)

    def run(self) -> None:
        """Live in real time until interrupted."""
        body, told = self._body, -np.inf
        while True:
            while not self._inbox.empty():
                self._take(self._inbox.get_nowait())
            body.step()
            ahead = self._start + body.time - time.time()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -STALL:
                self._start -= ahead  # a robot does not make up for it in a rush
            if body.time - told >= TELL - 1e-9:
                told = body.time
                self._tell()

    def _take(self, order: Goal | Cancel) -> None:
        if isinstance(order, Cancel):
            self._body.hold()
            self._write("hold")
        elif self._body.follow(order):
            self._write("command", seconds=order.points[-1][0], values=order.points[-1][1].tolist())
        else:
            self._write("refused")

    def _tell(self) -> None:
        body = self._body
        positions, velocities = body.positions, body.velocities
        reading = JointReading(self._start + body.time, body.wiring.joints, positions, velocities)
        self._server.tell_joints(reading, np.zeros_like(positions))
        self._write("state", positions=positions.tolist(), velocities=velocities.tolist(), held=body.held)

    def _write(self, kind: str, **more: object) -> None:
        if self._log is not None:
            self._log.write(json.dumps({"at": time.time(), "kind": kind, **more}) + "\n")


def served(address: RobotAddress, joints: tuple[str, ...], commands: Commands) -> Server:
    """The robot's end at `address`."""
    if isinstance(address, UdpAddress):
        from isthmus.hardware.udp.server import UdpServer  # noqa: PLC0415 - as the other

        return UdpServer(address, joints, commands)
    if isinstance(address, Ros2Address):
        require_dds()
        from isthmus.hardware.ros2.server import Ros2Server  # noqa: PLC0415 - DDS only where it is used

        return Ros2Server(address, joints, commands)
    raise Problem(f"{address} is the address of a Fetch: this stand-in is reached by ros2:// or udp://")


def main() -> int:
    """Run until interrupted."""
    given = tyro.cli(Arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        serve_first()
        body = Body(load_task(given.task), Gap.parse(given.gap), given.seed)
        server = served(parse_address(given.address), body.wiring.joints, body.wiring.commands)
        robot = Robot(body, server, given.log)
    except Problem as problem:
        sys.stderr.write(f"stand-in: {problem}\n")
        return 2
    with suppress(KeyboardInterrupt):
        robot.run()
    server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
