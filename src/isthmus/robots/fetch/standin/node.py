"""The robot at its end of the wire: it takes goals for its arm, and says where its joints are.

With a speed of 1 it lives in real time. Faster than that it has a clock of its own (/use_sim_time), which runs at most
so many times as fast as the wall's, and which waits a little for a goal that is due: a controller that is on time in
real time is on time here too, whatever else the machine is doing.
"""

import heapq
import itertools
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from isthmus.core import Float
from isthmus.hardware.address import RobotAddress
from isthmus.hardware.driver import JointReading, columns
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.priority import serve_first
from isthmus.hardware.ros1.action import INVALID_GOAL, INVALID_JOINTS, SUCCESSFUL, Motion
from isthmus.hardware.ros1.cord import Tie
from isthmus.hardware.ros2.address import Ros2Address
from isthmus.hardware.server import Server
from isthmus.hardware.udp.address import UdpAddress
from isthmus.robots.fetch.arm import JOINTS, REACH, SPEED_LIMITS
from isthmus.robots.fetch.standin.action import Reports, Unreported
from isthmus.robots.fetch.standin.drives import TICK
from isthmus.robots.fetch.standin.faults import Faults, FaultSettings
from isthmus.robots.fetch.standin.flight_log import FlightLog
from isthmus.robots.fetch.standin.machine import Machine, Reading
from isthmus.robots.fetch.standin.parameters import Parameters

OTHERS = ("l_wheel_joint", "r_wheel_joint", "torso_lift_joint", "bellows_joint", "head_pan_joint", "head_tilt_joint")
"""What a Fetch's joint states have before the arm's."""
GRIPPER = ("l_gripper_finger_joint", "r_gripper_finger_joint")
"""Which a Fetch tells of in messages of their own, on the same topic."""
REPORT_TICKS, CLOCK_TICKS, FEEDBACK_TICKS = 10, 10, 20
"""Milliseconds between two readings, between two tellings of the time, and between two of how a goal goes."""
LATE = 0.5
"""Seconds that a goal may have been under way."""
BREATH = 0.002
"""Seconds of real time that are computed at once."""
STALL = 0.1
"""Seconds that the machine may fall behind before the time is given up: a robot does not make up for it in a rush."""


@dataclass(frozen=True)
class NodeSettings:
    """How the robot runs."""

    speed: float = 1.0
    seed: int = 0
    patience: float = 2.0
    """Seconds of wall time that a simulated clock waits for a goal that is due."""
    faults: FaultSettings = field(default_factory=FaultSettings)
    log: Path | None = None
    """Where to write what happened to the arm."""


class Node:
    """A machine that can be found at an address."""

    def __init__(self, address: RobotAddress, parameters: Parameters, settings: NodeSettings) -> None:
        """Be found at `address`."""
        self._machine = Machine(parameters, settings.seed)
        self._patience = settings.patience
        serve_first()
        self._go_at(settings.speed)
        self._faults = Faults(settings.faults, settings.seed)
        self._log = None if settings.log is None else FlightLog(settings.log, SPEED_LIMITS)
        self._inbox: queue.SimpleQueue[Goal | Cancel | float | bool] = queue.SimpleQueue()
        self._done_at, self._under_way = 0.0, False
        self._late: list[tuple[float, int, JointReading, Float]] = []
        self._sent = itertools.count()
        ties = (Tie(link, tuple(point.tolist())) for link, point in self._machine.ties())
        self._server, report = _served(address, self._now, tuple(ties))
        self._server.open(self._hear, self._inbox.put, simulated=self._simulated)
        self._action = report()

    def run(self) -> None:
        """Go on for ever, or until interrupted."""
        while True:
            self._await_goal()
            ticks = max(1, round(BREATH * self._speed / TICK))
            for _ in range(1 if self._simulated and self._machine.time + ticks * TICK > self._done_at else ticks):
                self._tick()
            ahead = self._began + self._machine.time / self._speed - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -STALL:
                self._give_up(-ahead)

    def close(self) -> None:
        """Be found no longer."""
        self._server.close()

    def have_faults(self, *, wanted: bool) -> None:
        """Let things go wrong from now on, or right again; safe in a signal handler."""
        self._inbox.put(wanted)

    def _give_up(self, seconds: float) -> None:
        """Go on as if the time had not been; the robot's clock goes on all the same, as a real one's does."""
        self._began += seconds
        if not self._simulated:
            self._start += seconds

    def _hear(self, order: Goal | Cancel) -> None:
        if self._log is not None and not self._faults.cut:
            self._log.message(order)
        self._inbox.put(order)

    def _go_at(self, speed: float) -> None:
        """Have time go at that speed from now on."""
        self._speed, self._simulated = speed, speed != 1
        self._began = time.perf_counter() - self._machine.time / speed
        self._start = 0.0 if self._simulated else time.time() - self._machine.time

    def _await_goal(self) -> None:
        """Take what has come; a simulated clock waits for a goal that is due, and stands still for so long."""
        if self._simulated and self._under_way and self._machine.time >= self._done_at - TICK / 2:
            self._tell_time()  # whoever waits for the end of the goal must see it
            self._action.succeed()
            began = time.perf_counter()
            try:
                self._take(self._inbox.get(timeout=self._patience))
            except queue.Empty:
                self._under_way = False
            self._began += time.perf_counter() - began
        while not self._inbox.empty():
            self._take(self._inbox.get_nowait())

    def _take(self, order: Goal | Cancel | float | bool) -> None:
        if isinstance(order, bool):
            self._faults.have(wanted=order)
            if order and self._log is not None:
                self._log.fault()
        elif isinstance(order, float | int):
            if order > 0:
                self._go_at(order)
                self._server.go_simulated(simulated=self._simulated)
        elif self._faults.command_lost():
            return
        elif isinstance(order, Cancel):
            if self._action.cancel(order):
                self._under_way = False
                self._machine.command(None)
        elif (goal := self._action.named(order)) is not None:
            self._follow(goal)

    def _follow(self, goal: Goal) -> None:
        points, code, why = checked(goal)
        if why:
            self._action.refuse(goal, code, why)
            return
        self._machine.command(points)
        self._action.begin(goal)
        now = self._machine.time
        # A simulated clock stops where the sender's next step is due, by the sender's own reckoning.
        began = goal.stamp if self._simulated and now - LATE < goal.stamp < now else now
        self._under_way, self._done_at = True, began + points[-1][0]

    def _tick(self) -> None:
        machine = self._machine
        machine.tick()
        count = round(machine.time / TICK)
        if self._log is not None:
            self._log.move(machine.speeds)
            if count % REPORT_TICKS == 0:
                self._log.state(machine.positions, machine.speeds)
        if count % REPORT_TICKS == 0:
            machine.read()
        for reading in machine.readings():
            self._report(reading)
        while self._late and self._late[0][0] <= machine.time:
            self._server.tell_joints(*heapq.heappop(self._late)[2:])
        if not self._simulated and self._under_way and machine.time >= self._done_at:
            self._under_way = False
            self._action.succeed()
        if count % FEEDBACK_TICKS == 0 and self._action.watched:
            actual = machine.measured()
            self._action.tell_feedback(Motion(*machine.wanted()), Motion(actual.positions, actual.velocities))
        if count % CLOCK_TICKS == 0:
            self._tell_time()

    def _tell_time(self) -> None:
        if self._simulated:
            self._server.tell_time(self._machine.time)

    def _report(self, reading: Reading) -> None:
        stamp = self._start + reading.time
        rest, others = np.zeros(len(OTHERS)), len(OTHERS)
        whole = JointReading(
            stamp,
            (*OTHERS, *JOINTS),
            np.concatenate((rest, reading.positions)),
            np.concatenate((rest, reading.velocities)),
        )
        efforts = np.concatenate((np.zeros(others), reading.efforts))
        for one in self._faults.spoiled(whole):
            due = self._machine.time + self._faults.delay()
            heapq.heappush(self._late, (due, next(self._sent), one, efforts))
        if round(reading.time / TICK) % (10 * REPORT_TICKS) == 0:
            fingers = np.full(len(GRIPPER), 0.05)
            none = np.zeros_like(fingers)
            self._server.tell_joints(JointReading(stamp, GRIPPER, fingers, none), none)

    def _now(self) -> float:
        return self._start + self._machine.time


def _served(
    address: RobotAddress, now: Callable[[], float], ties: tuple[Tie, ...]
) -> tuple[Server, Callable[[], Reports]]:
    """The robot's end at `address`; and, once that is open, who is told what becomes of goals."""
    if isinstance(address, Ros2Address):
        from isthmus.hardware.ros2.server import Ros2Server  # noqa: PLC0415 - DDS only where it is used

        return Ros2Server(address, JOINTS), Unreported
    if isinstance(address, UdpAddress):
        from isthmus.hardware.udp.server import UdpServer  # noqa: PLC0415 - as the others

        return UdpServer(address, JOINTS), Unreported
    from isthmus.robots.fetch.standin.ros1_server import Ros1Server  # noqa: PLC0415 - ROS only where it is used

    server = Ros1Server(address, now, ties)
    return server, lambda: server.action


def checked(goal: Goal) -> tuple[list[tuple[float, Float]], int, str]:
    """The points of a goal in our order of the joints and within their range; or an error code and what is wrong."""
    where = columns(goal.names, JOINTS)
    if where is None or len(goal.names) != len(JOINTS):
        return [], INVALID_JOINTS, f"the arm has the joints {', '.join(JOINTS)}"
    points = [(after, angles) for after, angles in goal.points if angles.shape == (len(JOINTS),)]
    if not points or len(points) < len(goal.points) or not all(np.isfinite(angles).all() for _, angles in points):
        return [], INVALID_GOAL, "every point needs a finite position for every joint"
    if any(later <= before for (before, _), (later, _) in itertools.pairwise(points)):
        return [], INVALID_GOAL, "points must be in the order of their times"
    return [(after, np.clip(angles[where], -REACH, REACH)) for after, angles in points], SUCCESSFUL, ""
