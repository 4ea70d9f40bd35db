"""A log in the robot's own terms: its joints, in rad and s, at one rate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

import numpy as np

from isthmus.core import Float, Problem
from isthmus.core.arrays import frozen
from isthmus.logs.velocity_filter import VelocityFilter

CommandKind = Literal["position", "effort", "voltage"]
"""What a command asks of an actuator: a joint position in rad or m, a torque or the model's own control, volts."""
COMMAND_KINDS: tuple[CommandKind, ...] = ("position", "effort", "voltage")


@dataclass(frozen=True)
class RobotLog:
    """What n joints did and what m actuators were told, sampled evenly, in segments without gaps.

    Positions are in rad, velocities in rad/s and torques in N m; of a slide joint in m, m/s and N. What was told at
    row k acts from `time[k]` on, unless `command_delay` says that it acted later.
    """

    dt: float
    """Seconds between two rows."""
    joints: tuple[str, ...]
    """(n,) names of the robot's joints."""
    time: Float
    """(T,) seconds on the log's clock."""
    position: Float
    """(T, n)."""
    velocity: Float
    """(T, n)."""
    actuators: tuple[str, ...] = ()
    """(m,) names of the robot's actuators whose commands are known."""
    command: Float | None = None
    """(T, m); None where a log has no commands."""
    command_kind: CommandKind = "position"
    command_delay: float = 0.0
    """Estimated seconds by which commands acted later than at their rows. `aligned` moves them."""
    torque: Float | None = None
    """(T, n), measured; None when nothing measured it."""
    observations: Mapping[str, Float] = field(default_factory=dict[str, Float])
    """Other measurements by the robot's names for them, each (T,)."""
    starts: tuple[int, ...] = (0,)
    """The row at which each segment begins."""
    velocity_filter: VelocityFilter | None = None
    """What made the velocities out of positions; None where they were measured."""
    kp: Float | None = None
    """(m,) gain in N m/rad that a drive was set to, where the log says so."""
    kd: Float | None = None
    """(m,) damping in N m s/rad that a drive was set to, where the log says so."""
    notes: tuple[str, ...] = ()
    """A sentence for each thing that was estimated or left out."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together or hold numbers that are not finite."""
        rows, joints, actuators = len(self.time), len(self.joints), len(self.actuators)
        shapes: dict[str, tuple[int | None, ...]] = {
            "time": (rows,),
            "position": (rows, joints),
            "velocity": (rows, joints),
            "command": (rows, actuators),
            "torque": (rows, joints),
            "kp": (actuators,),
            "kd": (actuators,),
        }
        try:
            for name, shape in shapes.items():
                if getattr(self, name) is not None:
                    object.__setattr__(self, name, frozen(getattr(self, name), what=name, shape=shape))
            seen = {name: frozen(one, what=name, shape=(rows,)) for name, one in self.observations.items()}
        except ValueError as error:
            raise Problem(f"this is not a log of {joints} joints: {error}") from error
        object.__setattr__(self, "observations", MappingProxyType(seen))
        if not self.dt > 0:
            raise Problem(f"the time between two rows must be positive, got {self.dt:g}")
        if self.starts[:1] != (0,) or not all(np.diff([*self.starts, rows]) > 0):
            raise Problem(f"segments must begin at row 0 and in rising order before row {rows}")

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.time)

    @property
    def seconds(self) -> float:
        """How long the log is, without its gaps."""
        return len(self) * self.dt

    def segments(self) -> "Iterator[RobotLog]":
        """Each part without a gap, as a log of its own."""
        for begin, end in pairwise([*self.starts, len(self)]):
            yield self.rows(begin, end)

    def rows(self, begin: int, end: int) -> "RobotLog":
        """The rows from `begin` to `end`, which lies outside."""
        inside = tuple(start - begin for start in self.starts if begin < start < end)
        part = slice(begin, end)
        return replace(
            self,
            time=self.time[part],
            position=self.position[part],
            velocity=self.velocity[part],
            command=None if self.command is None else self.command[part],
            torque=None if self.torque is None else self.torque[part],
            observations={name: one[part] for name, one in self.observations.items()},
            starts=(0, *inside),
        )

    def aligned(self) -> "RobotLog":
        """The same log with commands at the rows at which they acted, to a fraction of a row.

        A command holds until the next one, so that one that acts between two rows is shared between them.
        """
        if self.command is None or self.command_delay == 0:
            return self
        moved = np.empty_like(self.command)
        for begin, end in pairwise([*self.starts, len(self)]):
            at = np.arange(end - begin) - self.command_delay / self.dt
            whole = np.floor(at).astype(np.int64)
            share = (at - whole)[:, None]
            held = self.command[begin:end]
            here, after = (held[np.clip(whole + more, 0, end - begin - 1)] for more in (0, 1))
            moved[begin:end] = (1 - share) * here + share * after
        return replace(self, command=moved, command_delay=0.0)
