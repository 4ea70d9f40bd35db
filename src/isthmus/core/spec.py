"""What a world is like from outside: names, limits, rates."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from isthmus.core.arrays import Bool, Float, Int

ROUNDING = 1e-5
"""Half ranges by which commands may differ and still be the same: messages round, and so do networks, which give a row
of a batch other last digits than the row alone."""


@dataclass(frozen=True)
class WorldSpec:
    """Numbers that matter, in one place, checked where data enters."""

    observation_names: tuple[str, ...]
    """One name for each observation dimension."""
    action_names: tuple[str, ...]
    """One name for each actuator."""
    action_low: Float
    """Lower actuator limits (act,)."""
    action_high: Float
    """Upper actuator limits (act,)."""
    control_period: float
    """Seconds between two commands."""
    horizon: int
    """Steps in a full episode."""
    targets: Int
    """Observation dimensions an inverse model is asked to reach; the others follow from them."""
    sensed: Int | None = None
    """Observation dimensions that tell of the robot, all by default; the others (a clock, a goal) are the task's own.
    A model of the robot does not look at those."""
    commands: Literal["effort", "position"] = "effort"
    """What an action asks for. A position is held until there is another: a random one must lie near the wanted one."""

    def __post_init__(self) -> None:
        """Refuse limits and targets that do not fit the names, and keep all from being changed."""
        for name in ("action_low", "action_high", "targets", *(() if self.sensed is None else ("sensed",))):
            kept = np.array(getattr(self, name))
            kept.flags.writeable = False
            object.__setattr__(self, name, kept)
        act = (len(self.action_names),)
        if self.action_low.shape != act or self.action_high.shape != act:
            raise ValueError(
                f"action limits have shapes {self.action_low.shape} and {self.action_high.shape}, expected {act}"
            )
        if not (self.action_low < self.action_high).all():
            raise ValueError("every lower action limit must be below the upper one")
        for name, rows in (("targets", self.targets), ("sensed", self.robot_dimensions)):
            rising = rows.ndim == 1 and rows.size > 0 and bool((np.diff(rows, prepend=-1) > 0).all())
            if not rising or rows[-1] >= self.observation_size:
                raise ValueError(
                    f"{name} must index the {self.observation_size} observation dimensions, in rising order"
                )
        if not np.isin(self.targets, self.robot_dimensions).all():
            raise ValueError("what is to be reached must be sensed")
        if self.horizon < 1 or self.control_period <= 0:
            raise ValueError("horizon and control period must be positive")

    @property
    def observation_size(self) -> int:
        """How many numbers an observation has."""
        return len(self.observation_names)

    @property
    def robot_dimensions(self) -> Int:
        """Observation dimensions that tell of the robot."""
        return np.arange(self.observation_size) if self.sensed is None else self.sensed

    @property
    def action_size(self) -> int:
        """How many actuators there are."""
        return len(self.action_names)

    @property
    def half_range(self) -> Float:
        """Half the width of each actuator's range (act,)."""
        return (self.action_high - self.action_low) / 2

    @property
    def middle(self) -> Float:
        """The middle of each actuator's range (act,)."""
        return (self.action_low + self.action_high) / 2

    def clip(self, commands: Float) -> Float:
        """What the actuators make of commands (n, act)."""
        return np.minimum(np.maximum(commands, self.action_low), self.action_high)

    def same(self, commands: Float, others: Float) -> Bool:
        """Which of commands (n, act) are the others (n,), but for rounding."""
        return np.asarray((np.abs(commands - others) <= ROUNDING * self.half_range).all(axis=1), np.bool_)
