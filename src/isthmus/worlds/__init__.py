"""Worlds: batched MuJoCo simulations, what may lie on the way in and out of them, and the closed box of a target."""

from isthmus.worlds.corrected import CorrectedWorld
from isthmus.worlds.embodiment import Embodiment, Fields
from isthmus.worlds.mujoco_world import MujocoWorld
from isthmus.worlds.paths import Backlash, Chain, DeadBand, Delay, Each, Noise, Path
from isthmus.worlds.robot import Robot

__all__ = [
    "Backlash",
    "Chain",
    "CorrectedWorld",
    "DeadBand",
    "Delay",
    "Each",
    "Embodiment",
    "Fields",
    "MujocoWorld",
    "Noise",
    "Path",
    "Robot",
]
