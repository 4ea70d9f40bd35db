"""A physical quantity of a robot, in all its parts, and how far it may well be off."""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float

TOGETHER = 1.0
"""How far a quantity may well be off in all its parts alike, as a logarithm: a heavier robot is heavier everywhere."""
APART = 0.1
"""How far each part may well be off by itself."""
RATIO = "of its own"
"""The unit of what the simulator has 1 of."""
FARTHEST = 6.0
"""Nothing is looked for so many prior deviations away."""


@dataclass(frozen=True)
class ParameterGroup:
    """Values, and a Gaussian prior about the simulator's own: they are `values` at z = 0, and z is standard normal."""

    name: str
    unit: str
    parts: tuple[str, ...]
    values: Float
    """The simulator's own (parts,)."""
    root: Float
    """A root of the prior covariance (parts, k)."""
    put: Callable[[mujoco.MjModel, Float], None]
    """Write values (parts,) into a model."""
    step: Float | None = None
    """What is added is counted in these (parts,); None for a factor, which is counted as a logarithm."""
    low: float = -FARTHEST
    torque: bool = True
    """Whether it is a torque, or what a torque has to overcome: of these only ratios can be identified."""
    vector: bool = False
    """Whether the parts are components of one vector, and add up to nothing."""

    @staticmethod
    def factor(
        name: str, unit: str, parts: tuple[str, ...], values: Float, put: Callable[[mujoco.MjModel, Float], None]
    ) -> "ParameterGroup":
        """Values that are off by a factor: one for all parts, and another for each."""
        shared, own = TOGETHER * np.ones((len(parts), 1)), APART * np.eye(len(parts))
        return ParameterGroup(name, unit, parts, values, np.hstack((shared, own)), put)

    @property
    def size(self) -> int:
        """How many numbers z has."""
        return self.root.shape[1]

    def at(self, z: Float) -> Float:
        """The values (parts,) at z (k,)."""
        off = self.root @ z
        return self.values * np.exp(off) if self.step is None else self.values + self.step * off
