"""A model of the target without actuator limits, and the limits beside it."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Simulator
from isthmus.sim import MujocoWorld, RobotModel


@dataclass(frozen=True)
class UnclampedTarget:
    """The target, laid open."""

    simulator: Simulator
    """With actuators that know no limits, so that differences can be taken across them."""
    low: Float
    high: Float
    """The limits that it has, in commands (act,)."""

    @staticmethod
    def of(
        body: RobotModel, model: mujoco.MjModel, simulate: Callable[[mujoco.MjModel], Simulator] | None = None
    ) -> "UnclampedTarget":
        """The robot `body` with the target's model; what lies between commands and actuators is not in a model.

        `simulate` makes a simulator of a model, where more than the model is known of the target.
        """
        model, spec = copy.copy(model), body.spec
        motor = (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED.value) & (
            model.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE.value
        )
        forced = motor & (model.actuator_forcelimited != 0) & (model.actuator_gainprm[:, 0] != 0)
        gain = np.where(forced, model.actuator_gainprm[:, 0], 1.0)
        by_force = np.sort(model.actuator_forcerange / gain[:, None], axis=1)
        low = np.where(forced, np.maximum(spec.action_low, by_force[:, 0]), spec.action_low)
        high = np.where(forced, np.minimum(spec.action_high, by_force[:, 1]), spec.action_high)
        model.actuator_ctrllimited[:] = 0
        model.actuator_forcelimited[forced] = 0
        return UnclampedTarget(simulate(model) if simulate else MujocoWorld(body, models=model), low, high)
