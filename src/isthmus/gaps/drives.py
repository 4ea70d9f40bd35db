"""Gaps in what a robot's actuators make of a command that has reached them."""

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.gaps.kind import factor

FIXED, AFFINE = mujoco.mjtGain.mjGAIN_FIXED.value, mujoco.mjtGain.mjGAIN_AFFINE.value
UNBIASED, AFFINE_BIAS = mujoco.mjtBias.mjBIAS_NONE.value, mujoco.mjtBias.mjBIAS_AFFINE.value


def _not_to_be_scaled(model: mujoco.MjModel, _body: str) -> str | None:
    """Motors and servos turn a control into a force that is linear in it."""
    linear = np.isin(model.actuator_gaintype, (FIXED, AFFINE)) & np.isin(
        model.actuator_biastype, (UNBIASED, AFFINE_BIAS)
    )
    return None if model.nu and linear.all() else "its actuators are neither motors nor servos"


def _torque_scale(model: mujoco.MjModel, factor: float, _body: str) -> None:
    for numbers in (model.actuator_gainprm, model.actuator_biasprm):
        numbers[:, :3] *= factor
    model.actuator_forcerange[:] *= factor


def _limits(model: mujoco.MjModel) -> Float:
    """The range of each actuator's force (nu, 2): given, or that of a motor at the ends of its controls; or nan."""
    motor = (model.actuator_gaintype == FIXED) & (model.actuator_biastype == UNBIASED)
    by_control = np.sort(model.actuator_gainprm[:, :1] * model.actuator_ctrlrange, axis=1)
    by_control[~(motor & model.actuator_ctrllimited)] = np.nan
    return np.where(model.actuator_forcelimited[:, None], model.actuator_forcerange, by_control)


def _limitless(model: mujoco.MjModel, _body: str) -> str | None:
    return None if model.nu and np.isfinite(_limits(model)).all() else "its actuators have no limit to change"


def _torque_limit(model: mujoco.MjModel, factor: float, _body: str) -> None:
    model.actuator_forcerange[:] = factor * _limits(model)
    model.actuator_forcelimited[:] = True


DRIVES = (
    factor(
        "torque-scale",
        "strength of the actuators: the force a command gives, and its limit with it",
        *((0.1, 3.0), 0.8, _not_to_be_scaled, _torque_scale),
    ),
    factor(
        "torque-limit",
        "the force at which the actuators saturate, while commands below it have the effect they had",
        *((0.05, 1.0), 0.7, _limitless, _torque_limit),
    ),
)
