"""Worlds: batched MuJoCo simulations, and the closed box a target is put in."""

from isthmus.worlds.embodiment import Embodiment, Fields
from isthmus.worlds.mujoco_world import MujocoWorld
from isthmus.worlds.robot import Robot

__all__ = ["Embodiment", "Fields", "MujocoWorld", "Robot"]
