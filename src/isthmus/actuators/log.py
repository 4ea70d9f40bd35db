"""What a robot's joints were asked to do and what they did: the data that actuator models are fitted to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, Problem
from isthmus.core.arrays import frozen

Command = Literal["position", "effort"]
"""What a target asks for: a joint position in rad, or an effort."""
SAMPLED = ("target", "position", "velocity", "torque", "gain")
"""What a log has for every row."""


@dataclass(frozen=True)
class ActuatorLog:
    """Samples of J joints at one rate, in contiguous segments.

    A history never reaches across the start of a segment. Positions are in rad, velocities in rad/s, torques in N m.
    """

    dt: float
    """Seconds between two samples."""
    joints: tuple[str, ...]
    target: Float
    """(T, J): what was commanded."""
    position: Float
    """(T, J)."""
    velocity: Float
    """(T, J)."""
    torque: Float | None = None
    """(T, J): measured at the joint; None when nothing measured it."""
    starts: tuple[int, ...] = (0,)
    """The row at which each segment begins."""
    names: tuple[str, ...] = ()
    """The motion of each segment."""
    kp: Float | None = None
    """(J,): the gain that the drive was set to, in N m/rad."""
    kd: Float | None = None
    """(J,): the damping that the drive was set to, in N m s/rad."""
    gain: Float | None = None
    """(T, J): what the drive's gain was set to, as a share of `kp`; None when it never changed."""
    command: Command = "position"

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together or hold numbers that are not finite."""
        shape = (len(self.target), len(self.joints))
        try:
            for name in SAMPLED:
                if getattr(self, name) is not None:
                    object.__setattr__(self, name, frozen(getattr(self, name), what=name, shape=shape))
            for name in ("kp", "kd"):
                if getattr(self, name) is not None:
                    object.__setattr__(self, name, frozen(getattr(self, name), what=name, shape=shape[1:]))
        except ValueError as error:
            raise Problem(f"this is not a log of {len(self.joints)} joints: {error}") from error
        if not self.dt > 0:
            raise Problem(f"the time between two samples must be positive, got {self.dt}")
        if self.starts[:1] != (0,) or not all(np.diff([*self.starts, shape[0]]) > 0):
            raise Problem(f"segments must begin at row 0 and in rising order before row {shape[0]}, got {self.starts}")
        if not self.names:
            object.__setattr__(self, "names", tuple(str(number) for number in range(len(self.starts))))
        if len(self.names) != len(self.starts):
            raise Problem(f"{len(self.starts)} segments need as many names, got {len(self.names)}")

    def __len__(self) -> int:
        """How many samples there are of each joint."""
        return len(self.target)

    @property
    def seconds(self) -> float:
        """How long the log is."""
        return len(self) * self.dt

    @property
    def error(self) -> Float:
        """What drives the joint (T, J): target minus position, or the effort that was asked for."""
        return self.target - self.position if self.command == "position" else self.target

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """First and last row of each segment, the last excluded."""
        return list(zip(self.starts, (*self.starts[1:], len(self)), strict=True))

    def rows(self, first: int, last: int, name: str = "") -> "ActuatorLog":
        """The rows from `first` to before `last`, as one segment: they must not reach across a start."""
        cut: dict[str, Any] = {key: value[first:last] for key in SAMPLED if (value := getattr(self, key)) is not None}
        return replace(self, **cut, starts=(0,), names=(name or self.names[self._segment(first)],))

    def segments(self) -> Iterator["ActuatorLog"]:
        """Each segment as a log."""
        for (first, last), name in zip(self.bounds, self.names, strict=True):
            yield self.rows(first, last, name)

    def blocks(self, seconds: float) -> list["ActuatorLog"]:
        """Contiguous blocks of about so many seconds; a segment is cut into equal parts."""
        out: list[ActuatorLog] = []
        for (first, last), name in zip(self.bounds, self.names, strict=True):
            count = max(1, round((last - first) * self.dt / seconds))
            cuts = np.linspace(first, last, count + 1).round().astype(int)
            out += [self.rows(int(a), int(b), name) for a, b in pairwise(cuts)]
        return out

    def age(self) -> NDArray[np.int64]:
        """How many samples of its own segment came before each row (T,)."""
        rows = np.arange(len(self))
        starts = np.asarray(self.starts)
        return rows - starts[np.searchsorted(starts, rows, side="right") - 1]

    def _segment(self, row: int) -> int:
        return int(np.searchsorted(self.starts, row, side="right")) - 1


def joined(logs: Sequence[ActuatorLog]) -> ActuatorLog:
    """Several logs of the same joints as one, their segments kept apart."""
    if not logs:
        raise Problem("there is nothing to join: give at least one log")
    first = logs[0]
    for one in logs[1:]:
        if one.joints != first.joints:
            raise Problem(
                f"logs of different joints cannot be joined: {', '.join(one.joints)} after {', '.join(first.joints)}"
            )
        if abs(one.dt - first.dt) > 1e-3 * first.dt:
            raise Problem(f"logs at different rates cannot be joined: {1 / one.dt:g} Hz after {1 / first.dt:g} Hz")
        same = all((getattr(one, name) is None) == (getattr(first, name) is None) for name in SAMPLED)
        if not same or one.command != first.command:
            raise Problem("logs with and without measured torque, or of different commands, cannot be joined")
    ends = np.cumsum([0, *(len(one) for one in logs[:-1])])
    stacked: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in logs])
        for name in SAMPLED
        if getattr(first, name) is not None
    }
    starts = tuple(int(end) + start for end, one in zip(ends, logs, strict=True) for start in one.starts)
    return replace(first, **stacked, starts=starts, names=tuple(name for one in logs for name in one.names))
