"""What a stand-in ANYmal is like. Fixed before policies were trained, and read here alone."""

from dataclasses import dataclass, fields
from importlib.resources import files

import numpy as np

from isthmus.core import Float, unknown_name
from isthmus.io import read_json

ROBOTS = ("first", "second")


@dataclass(frozen=True)
class Drive:
    """The numbers of the joint drives, each (12,); in the order in which drive.c has them."""

    stiffness: Float
    """Of the impedance loop, in N m / rad."""
    damping: Float
    """And its gain on the joint's speed, in N m s / rad."""
    effort: Float
    """Largest torque that it asks for, in N m."""
    torque_gain: Float
    """Of the torque loop, on the error of the spring's torque."""
    motor_damping: Float
    """Of the torque loop, on the spring's speed, in N m s / rad."""
    current_rate: Float
    """Bandwidth of the current loop, in rad / s."""
    peak: Float
    """Largest torque of the motor, at the joint, in N m."""
    stall: Float
    """Torque at which the line of torque against speed begins, in N m."""
    no_load: Float
    """Speed at which it ends, in rad / s."""
    inertia: Float
    """Of the motor, at the joint, in kg m^2."""
    coulomb: Float
    """Friction in motion, in N m."""
    stribeck: Float
    """What is added near rest, in N m."""
    stribeck_speed: Float
    """And up to which speed, in rad / s."""
    viscous: Float
    """Friction with speed, in N m s / rad."""
    spring: Float
    """In N m / rad."""
    spring_damping: Float
    """In N m s / rad."""
    play: Float
    """Of the gear, to each side, in rad."""


@dataclass(frozen=True)
class Parameters:
    """The numbers of one robot."""

    drive: Drive
    delay: float
    """Seconds that a target is on its way."""
    link_mass: Float
    """Of the base and each link of the legs, as a factor (13,)."""
    base_shift: Float
    """Of the base's centre of mass, in m (3,)."""
    angle_noise: float
    """Standard deviation of measured angles, in rad."""
    speed_noise: float
    """And of speeds, in rad / s."""
    torque_noise: float
    """And of torques, in N m."""


def load_parameters(name: str) -> Parameters:
    """The robot of that name."""
    if name not in ROBOTS:
        raise unknown_name("stand-in robot", name, ROBOTS)
    with_path = files("isthmus.robots.anymal.standin") / "drawn" / f"{name}.json"
    drawn = read_json(with_path)  # pyright: ignore[reportArgumentType]
    drive = Drive(**{one.name: np.array(drawn["drive"][one.name], dtype=np.float64) for one in fields(Drive)})
    return Parameters(
        drive=drive,
        delay=float(drawn["delay"]),
        link_mass=np.array(drawn["link_mass"], dtype=np.float64),
        base_shift=np.array(drawn["base_shift"], dtype=np.float64),
        **{name: float(drawn[name]) for name in ("angle_noise", "speed_noise", "torque_noise")},
    )
