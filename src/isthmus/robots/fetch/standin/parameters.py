"""What a stand-in robot is like. Fixed before adaptation was tuned, and read here alone."""

import json
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

import numpy as np

from isthmus.core import Float, unknown_name

ROBOTS = ("first", "second")


@dataclass(frozen=True)
class Parameters:
    """The numbers of one robot; arrays have a row for each joint of the arm (7,)."""

    stiffness: Float
    """Gain of its position controller on the position error, in N m / rad."""
    damping: Float
    """And on the speed, in N m s / rad."""
    foresight: float
    """Share of the wanted speed that the controller knows."""
    gravity_known: float
    """Share of gravity that it makes up for."""
    effort: Float
    """Largest torque of a motor, in N m."""
    inertia: Float
    """Of the motors, at the joint, in kg m^2."""
    viscous: Float
    """Friction with speed, in N m s / rad."""
    sliding: Float
    """Friction in motion, in N m."""
    sticking: Float
    """Friction at rest, in N m."""
    backlash: Float
    """Free play of the gears, to each side, in rad."""
    gear_stiffness: Float
    gear_damping: Float
    link_mass: Float
    """Of each link of the arm, as a factor."""
    payload: float
    """In the hand, in kg."""
    warming: Float
    """Kelvin a second for a torque of one effort limit, squared."""
    cooling: float
    """Seconds in which a motor cools to a third."""
    weakening: float
    """Share of its torque that a motor loses when it is 50 kelvin warmer."""
    cord_anchor: Float
    """Where the cord is tied, in m (3,)."""
    cord_rest: float
    """Length at which it begins to pull, in m."""
    cord_stiffness: float
    """In N / m."""
    cord_hysteresis: float
    """Force that depends on whether it is being stretched, in N."""
    cord_travel: float
    """Stretch over which that force turns round, in m."""
    encoder: float
    """Smallest angle that is seen, in rad."""
    speed_window: int
    """Milliseconds over which speeds are measured."""
    latency: float
    """Seconds that a command is on its way, at least."""
    jitter: float
    """And on average more than that."""
    sensor_latency: float
    sensor_jitter: float


def load_parameters(name: str) -> Parameters:
    """The robot of that name."""
    if name not in ROBOTS:
        raise unknown_name("stand-in robot", name, ROBOTS)
    drawn = json.loads((files("isthmus.robots.fetch.standin") / "drawn" / f"{name}.json").read_text(encoding="utf-8"))
    numbers: dict[str, Any] = {one.name: drawn[one.name] for one in fields(Parameters)}
    for key, value in numbers.items():
        if isinstance(value, list):
            numbers[key] = np.array(drawn[key], dtype=np.float64)
    return Parameters(**numbers)
