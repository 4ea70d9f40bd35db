"""Gaps between what is true and what is observed."""

from collections.abc import Mapping
from functools import partial

import mujoco
import numpy as np

from isthmus.core import Problem, WorldSpec
from isthmus.gaps.kind import GapKind, channel
from isthmus.gaps.observed import at_rest, base_columns, free_base, imu_columns, velocity_columns
from isthmus.gaps.sensor_channels import Dropout, Hidden, Misalignment, Quantisation, ScaleError
from isthmus.sim import Chain, Channel, Delay, Noise, RobotModel

OWN_UNITS = "units of each observation"
HIDE = ("nothing", "base", "velocities")
"""What may be hidden; a setting is the number of one of these."""
IMU = ("imu-roll", "imu-pitch", "imu-yaw")


def sensor_channel(
    dials: Mapping[str, float], spec: WorldSpec, n: int, robot_model: RobotModel | None = None
) -> Channel | None:
    """What observations go through, in a fixed order; None when nothing is in the way.

    They are late, then turned with a misaligned IMU, off by a factor, off by a constant, noisy, rounded, lost, and
    hidden. `robot_model` tells which numbers an IMU measures and which are velocities.
    """
    size, sensed = spec.observation_size, spec.robot_dimensions
    channels: list[Channel] = []
    if delay := int(dials.get("sensor-delay", 0)):
        channels.append(Delay(n, size, delay))
    turned = [dials.get(name, 0.0) for name in IMU]
    if any(turned):
        channels.append(Misalignment(imu_columns(_known(robot_model)), *turned))
    if scale := dials.get("sensor-scale", 0.0):
        channels.append(ScaleError(n, np.where(np.isin(np.arange(size), sensed), scale, 0.0)))
    if bias := dials.get("sensor-bias", 0.0):
        channels.append(Noise(n, np.full(size, bias), correlation=1.0))
    if std := dials.get("sensor-noise", 0.0):
        channels.append(Noise(n, np.full(size, std)))
    if step := dials.get("sensor-quantisation", 0.0):
        channels.append(Quantisation(step, sensed))
    if probability := dials.get("sensor-dropout", 0.0):
        channels.append(Dropout(n, size, probability, sensed))
    if hidden := int(dials.get("hide", 0)):
        channels.append(_hidden(_known(robot_model), HIDE[hidden]))
    return Chain(channels) if channels else None


def _hidden(body: RobotModel, what: str) -> Hidden:
    columns = velocity_columns(body) if what == "velocities" else base_columns(body)
    if not len(columns):
        raise Problem(f"gap 'hide' does not fit this robot: its observation shows no {what} that could be hidden")
    return Hidden(columns, at_rest(body)[columns])


def _known(robot_model: RobotModel | None) -> RobotModel:
    if robot_model is None:
        raise ValueError("what an IMU measures, and what is hidden, is known of a robot model only: give it")
    return robot_model


def _without_imu(model: mujoco.MjModel, _body: str) -> str | None:
    return "it has no IMU, since its base is not free to turn" if free_base(model) is None else None


def _turned(name: str, axis: str) -> GapKind:
    return GapKind(
        name,
        f"the IMU is mounted turned about the base's {axis} axis, and taken for aligned",
        *("sensor", "degrees", -180.0, 180.0, 0.0, 5.0),
        misfit=_without_imu,
    )


_dial = partial(channel, "sensor")
SENSING = (
    _dial("sensor-delay", "observations are seen later", "control steps", 50, 1),
    *(_turned(name, axis) for name, axis in zip(IMU, "xyz", strict=True)),
    _dial(
        "sensor-scale",
        "standard deviation of a relative error of every observation, drawn once an episode",
        *("times each observation", 1.0, 0.02),
    ),
    _dial(
        "sensor-bias",
        "standard deviation of an offset of every observation, drawn once an episode",
        *(OWN_UNITS, 1.0, 0.01),
    ),
    _dial(
        "sensor-noise",
        "standard deviation of noise on every observation, drawn at every step",
        *(OWN_UNITS, 1.0, 0.01),
    ),
    _dial("sensor-quantisation", "observations are rounded to multiples of this step", *(OWN_UNITS, 1.0, 0.01)),
    _dial(
        "sensor-dropout",
        "probability that a whole observation is lost, and the last one is seen again",
        *("(a probability)", 1.0, 0.1),
    ),
    GapKind(
        "hide",
        "what the sensors do not show: velocities, or position and linear velocity of the base",
        *("sensor", "(nothing, base or velocities)", 0, 2, 0, 2),
        whole=True,
        words=HIDE,
    ),
)
