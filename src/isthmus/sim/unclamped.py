"""A simulator whose actuators have no limits, so that differences can be taken across them."""

import copy

from isthmus.sim.mujoco_world import MujocoWorld
from isthmus.sim.robot_model import Embodiment


def unlimited_world(embodiment: Embodiment, n: int = 1) -> MujocoWorld:
    """Make n simulations of a robot whose actuators have no limits."""
    model = copy.copy(embodiment.model)
    model.actuator_ctrllimited[:] = 0
    return MujocoWorld(embodiment, n, models=model)
