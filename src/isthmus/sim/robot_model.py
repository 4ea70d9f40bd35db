"""A robot as MuJoCo has it: how its model is observed, put into a state, started and ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from isthmus.core import Bool, Float, WorldSpec

if TYPE_CHECKING:
    from isthmus.sim.channels import Drive

Fields = Mapping[str, Float]
"""MjData fields of n simulations by name, each (n, ...)."""
State = tuple[Float, Float]
"""Positions (n, nq) and velocities (n, nv)."""


def never_ends(_fields: Fields) -> Bool | None:
    """No state ends an episode."""
    return None


@dataclass(frozen=True)
class RobotModel:
    """The observation-state codec of a robot, and its episodes."""

    model: mujoco.MjModel
    frame_skip: int
    """Physics steps in a control step."""
    spec: WorldSpec
    reads: tuple[str, ...]
    """MjData fields beyond qpos and qvel that `observe`, `ended` or a task's score read."""
    observe: Callable[[Fields, Float], None]
    """Write the observations (n, obs) of n simulations."""
    restore: Callable[[Float, Float, Float], None]
    """Write the positions (n, nq) and velocities (n, nv) that observations (n, obs) were made from."""
    start: Callable[[np.random.Generator, int], State]
    """Draw n initial states."""
    ended: Callable[[Fields], Bool | None] = never_ends
    """Which simulations are over (n,); None when none can be."""
    drive: "Callable[[int], Drive] | None" = None
    """Makes the drives of n simulations, which turn commands into controls once a physics step; None when the actuators
    of the model are all there is."""

    def __post_init__(self) -> None:
        """Let a simulation that diverges be seen: by default MuJoCo would put it back to its start in silence."""
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
