"""Worlds: batched MuJoCo simulations, what may lie on the way in and out of them, and the closed box of a target."""

from isthmus.sim.channels import Backlash, Chain, Channel, DeadBand, Delay, Noise, PerWorld
from isthmus.sim.corrected import CorrectedWorld
from isthmus.sim.mujoco_world import MujocoWorld
from isthmus.sim.robot_model import Embodiment, Fields
from isthmus.sim.sealed_robot import Robot

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
