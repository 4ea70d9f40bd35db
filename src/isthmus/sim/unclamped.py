"""A simulator whose actuators have no limits, so that differences can be taken across them."""

import copy

from isthmus.sim.mujoco_world import MujocoWorld
from isthmus.sim.robot_model import RobotModel


def unclamped_world(robot_model: RobotModel, n: int = 1) -> MujocoWorld:
    """Make n simulations of a robot whose actuators have no limits."""
    model = copy.copy(robot_model.model)
    model.actuator_ctrllimited[:] = 0
    return MujocoWorld(robot_model, n, models=model)
