"""How a log's columns become a robot's joints and actuators: what `isthmus logs map` proposes and a person corrects."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Problem
from isthmus.logs.robot_log import COMMAND_KINDS, CommandKind
from isthmus.logs.velocity_filter import CUTOFF

MOST = 200
"""Joints, actuators or observations of a map."""
MOST_RATE = 100_000.0
"""Hz."""


@dataclass(frozen=True)
class Source:
    """One column of a log, in the robot's terms: `sign * scale * column + offset`."""

    series: str
    """Name of the series, as `isthmus logs inspect` prints it."""
    column: int
    """Component of the series, from 0."""
    sign: int = 1
    """1 or -1."""
    scale: float = 1.0
    """rad, m, N m or V of the robot in one unit of the log, as pi / 180 for degrees."""
    offset: float = 0.0
    """What is added, in the robot's unit."""

    def __post_init__(self) -> None:
        """Refuse what no column can be."""
        if not self.series:
            raise Problem("a source needs the name of a series")
        if self.column < 0:
            raise Problem(f"columns count from 0, got {self.column}")
        if self.sign not in (1, -1):
            raise Problem(f"a sign is 1 or -1, got {self.sign}")
        if not (0 < self.scale < 1e12):
            raise Problem(f"a scale is a positive number, and a negative one has sign = -1; got {self.scale:g}")
        if not abs(self.offset) < 1e12:
            raise Problem(f"an offset is a finite number, got {self.offset:g}")


@dataclass(frozen=True)
class JointSources:
    """Where the numbers of one joint are."""

    name: str
    """Of the joint in the robot's model."""
    position: Source
    velocity: Source | None = None
    """None where the log has none: then it is estimated from positions."""
    torque: Source | None = None


@dataclass(frozen=True)
class ActuatorSource:
    """Where the commands of one actuator are."""

    name: str
    """Of the actuator in the robot's model, or of its joint where the model has none."""
    joint: str
    """That it moves."""
    command: Source
    kp: float | None = None
    """N m/rad that the drive was set to, where it is known."""
    kd: float | None = None
    """N m s/rad that the drive was set to, where it is known."""


@dataclass(frozen=True)
class ObservationSource:
    """Where another measurement is, by the robot's name for it."""

    name: str
    source: Source


@dataclass(frozen=True)
class LogMap:
    """All that turns a log into a `RobotLog`."""

    joints: tuple[JointSources, ...]
    actuators: tuple[ActuatorSource, ...] = ()
    observations: tuple[ObservationSource, ...] = ()
    command_kind: CommandKind = "position"
    command_delay: float = 0.0
    """Seconds by which commands act later than they are logged; negative where the log's clocks differ."""
    rate: float | None = None
    """Rows a second of the result; the slowest rate of the positions where there is none."""
    velocity_cutoff: float = CUTOFF
    """Hz, of the filter that estimates velocities where the log has none."""
    enabled: Source | None = None
    """Rows where this is 0 are left out, as when a drive is off."""
    episode: Source | None = None
    """Where this changes, a new segment begins."""
    robot: str = ""
    """What the map was made for, for people."""

    def __post_init__(self) -> None:
        """Refuse a map of nothing, names that occur twice, and numbers that mean nothing."""
        if not self.joints:
            raise Problem("a map needs at least one joint")
        for what, names in (
            ("joint", [one.name for one in self.joints]),
            ("actuator", [one.name for one in self.actuators]),
            ("observation", [one.name for one in self.observations]),
        ):
            if len(names) > MOST:
                raise Problem(f"{len(names)} are too many of one {what}: at most {MOST}")
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise Problem(f"the {what} {twice!r} is mapped twice")
        unknown = next((one for one in self.actuators if one.joint not in {j.name for j in self.joints}), None)
        if unknown is not None:
            raise Problem(f"the actuator {unknown.name!r} moves {unknown.joint!r}, which is no joint of the map")
        if self.command_kind not in COMMAND_KINDS:
            raise Problem(f"a command is a {', '.join(COMMAND_KINDS[:-1])} or {COMMAND_KINDS[-1]}")
        if self.rate is not None and not 0 < self.rate <= MOST_RATE:
            raise Problem(f"a rate is between 0 and {MOST_RATE:g} Hz, got {self.rate:g}")
        if not abs(self.command_delay) < 60:
            raise Problem(f"a delay of commands is less than a minute, got {self.command_delay:g} s")
        if not (self.velocity_cutoff > 0 and np.isfinite(self.velocity_cutoff)):
            raise Problem(f"the cutoff of velocities must be positive, got {self.velocity_cutoff:g} Hz")
