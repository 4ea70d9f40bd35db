"""The physics of a robot in numbers that a policy can be told.

Torques, and what they have to overcome, are told as ratios to the actuators' common strength: models that move alike
have the same numbers, and motion tells all of them. A factor is told as its logarithm, which is 0 for the simulator's
own value; what is added is counted in its group's steps.
"""

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.sim import RobotModel
from isthmus.sysid.parameter_groups import parameter_groups, strength

LEAST = 1e-2
"""Smaller factors are told as this one: a joint may have no damping at all."""


class Quantities:
    """Reads the numbers (q,) from models of one robot."""

    def __init__(self, robot_model: RobotModel) -> None:
        """Find what the robot's model has."""
        self._own = robot_model.model
        self._groups = parameter_groups(self._own)
        self.names: tuple[str, ...] = tuple(f"{group.name} {part}" for group in self._groups for part in group.parts)

    def __call__(self, model: mujoco.MjModel) -> Float:
        """The numbers of a model, in the order of `names`."""
        common = float(np.mean(np.log(np.maximum(strength(self._own, model), LEAST)))) if model.nu else 0.0
        told: list[Float] = []
        for group in self._groups:
            values, shift = group.get(model), common * group.torque
            if group.step is None:
                told.append(np.log(np.maximum(values / group.values, LEAST)) - shift)
            else:
                told.append((values * np.exp(-shift) - group.values) / group.step)
        return np.concatenate(told)
