"""Worlds: batched MuJoCo simulations, what may lie on the way in and out of them, and the closed box of a target."""

from isthmus.sim.channels import Backlash, Chain, Channel, DeadBand, Delay, Drive, Noise, PerWorld
from isthmus.sim.corrected import CorrectedWorld
from isthmus.sim.mujoco_world import MujocoWorld
from isthmus.sim.robot_model import Fields, RobotModel
from isthmus.sim.sealed_robot import SealedRobot

__all__ = [
    "Backlash",
    "Chain",
    "Channel",
    "CorrectedWorld",
    "DeadBand",
    "Delay",
    "Drive",
    "Fields",
    "MujocoWorld",
    "Noise",
    "PerWorld",
    "RobotModel",
    "SealedRobot",
]
