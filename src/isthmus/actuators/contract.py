"""What an actuator model takes and gives: joints, time step, lags, limits, and where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus.actuators.log import Command
from isthmus.core import Float, Problem

MOST_LAG = 4096


@dataclass(frozen=True)
class Contract:
    """The terms on which an actuator model may be used; the same for every kind of model."""

    joints: tuple[str, ...]
    dt: float
    """Seconds between the samples that lags count."""
    lags: tuple[int, ...]
    """Samples of the past that go in, the newest first: 0 is the present one."""
    torque_scale: float
    """Standard deviation of the torque in the data, in N m: the unit in which errors are small or large."""
    effort_limit: Float
    """(J,): the largest torque that comes out, in N m."""
    saturation: Float
    """(J,): torque of the motor at standstill, in N m; infinite when the torque-speed line is not known."""
    speed_limit: Float
    """(J,): speed of the motor without load, in rad/s; infinite when the torque-speed line is not known."""
    seen: Float
    """(J, 2, 2): least and most error, and least and most velocity, in the data. Outside it the model is a guess."""
    command: Command = "position"
    provenance: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Where the data came from, how the model was fitted, and how well it did."""

    def __post_init__(self) -> None:
        """Refuse terms that contradict each other."""
        size = len(self.joints)
        for name, shape in (
            ("effort_limit", (size,)),
            ("saturation", (size,)),
            ("speed_limit", (size,)),
            ("seen", (size, 2, 2)),
        ):
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.shape != shape or np.isnan(array).any():
                raise Problem(f"{name} of an actuator of {size} joints must be {shape} numbers, got {array.shape}")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not (np.concatenate((self.effort_limit, self.saturation, self.speed_limit)) > 0).all():
            raise Problem("the limits of an actuator must be positive")
        if not self.lags or list(self.lags) != sorted(set(self.lags)) or self.lags[0] < 0 or self.lags[-1] > MOST_LAG:
            raise Problem(f"lags must rise from 0 or more to at most {MOST_LAG}, got {self.lags}")
        if not (self.dt > 0 and self.torque_scale > 0):
            raise Problem("the time step and the torque scale of an actuator must be positive")

    @property
    def size(self) -> int:
        """How many joints there are."""
        return len(self.joints)

    @property
    def lag_seconds(self) -> tuple[float, ...]:
        """The lags in seconds."""
        return tuple(lag * self.dt for lag in self.lags)

    def clip(self, torque: Float, velocity: Float) -> Float:
        """Torques (..., J) within the effort limit and the torque-speed line of a DC motor."""
        known = np.isfinite(self.saturation)
        share = np.where(np.isfinite(self.speed_limit), velocity / self.speed_limit, 0.0)
        stall, most = np.where(known, self.saturation, 0.0), self.effort_limit
        top = np.where(known, np.clip(stall * (1 - share), -most, most), most)
        bottom = np.where(known, np.clip(stall * (-1 - share), -most, most), -most)
        return np.maximum(bottom, np.minimum(top, torque))


def unlimited(size: int) -> Float:
    """Limits that nothing reaches (size,)."""
    return np.full(size, np.inf)
