"""A simulator whose physical parameters can be changed."""

import copy

import mujoco
import numpy as np

from isthmus.core import Float, History
from isthmus.sim import MujocoWorld, RobotModel
from isthmus.sysid.parameter_groups import FARTHEST, ParameterGroup, parameter_groups


class Physics:
    """Simulators of one robot by their parameters z (p,), of which the simulator as it was given has z = 0.

    Parameters are in deviations of the prior: a standard normal z is what may well be.
    """

    def __init__(self, robot_model: RobotModel) -> None:
        """Find what the robot's model has. Limits of actuators are not part of its physics."""
        self._robot_model = robot_model
        self.groups: tuple[ParameterGroup, ...] = parameter_groups(robot_model.model)
        self._predictor = MujocoWorld(robot_model)

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return sum(group.size for group in self.groups)

    @property
    def bounds(self) -> tuple[Float, Float]:
        """The least and the largest z that make sense, each (p,)."""
        low = [np.full(group.size, group.low) for group in self.groups]
        return np.concatenate(low), np.full(self.size, FARTHEST)

    def split(self, z: Float) -> list[Float]:
        """The part of z (..., p) that each quantity has."""
        ends = np.cumsum([group.size for group in self.groups])
        return np.split(z, ends[:-1], axis=-1)

    def values(self, z: Float) -> list[Float]:
        """Every quantity's values (parts,)."""
        return [group.at(part) for group, part in zip(self.groups, self.split(z), strict=True)]

    def model(self, values: list[Float]) -> mujoco.MjModel:
        """The model with quantities of these values; what MuJoCo derives from them follows."""
        changed = copy.copy(self._robot_model.model)
        for group, to in zip(self.groups, values, strict=True):
            group.put(changed, to)
        mujoco.mj_setConst(changed, mujoco.MjData(changed))
        return changed

    def predict(self, values: list[Float], observations: Float, actions: Float, *, coarse: bool = False) -> Float:
        """What would be seen next (n, obs): all n in one batch of one model, whose constants are derived only once.

        Where it may be `coarse`, it is seen in a simulator that is quicker and less exact, if there is one.
        """
        self._predictor.adopt(self.model(values))
        predictor = self._predictor.coarse if coarse else None
        return (predictor or self._predictor).predict(History.of(observations), actions)

    def simulator(self, values: list[Float]) -> MujocoWorld:
        """The simulator with quantities of these values, and actuators that know no limits."""
        model = self.model(values)
        model.actuator_ctrllimited[:] = 0
        return MujocoWorld(self._robot_model, models=model)
