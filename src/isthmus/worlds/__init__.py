"""Worlds: batched MuJoCo simulations, what may lie on the way in and out of them, and the closed box of a target."""

from isthmus.worlds.channels import Backlash, Chain, Channel, DeadBand, Delay, Noise, PerWorld
from isthmus.worlds.corrected import CorrectedWorld
from isthmus.worlds.embodiment import Embodiment, Fields
from isthmus.worlds.mujoco_world import MujocoWorld
from isthmus.worlds.robot import Robot

__all__ = [
    "Backlash",
    "Chain",
    "Channel",
    "CorrectedWorld",
    "DeadBand",
    "Delay",
    "Embodiment",
    "Fields",
    "MujocoWorld",
    "Noise",
    "PerWorld",
    "Robot",
]
