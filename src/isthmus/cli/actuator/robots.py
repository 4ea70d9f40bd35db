"""Robots by name, for the commands about actuators."""

from collections.abc import Mapping

import numpy as np

from isthmus.actuators.plant import Plant, load_plant, plant_of, usual_joints
from isthmus.core import Float, Problem

STANCES = {"go2": (0.0, 0.9, -1.8) * 4}


def plant_for(robot: str, joints: tuple[str, ...], facts: Mapping[str, float]) -> Plant:
    """The robot's body with these joints."""
    if robot == "anymal":
        from isthmus.robots.anymal.model import anymal_spec

        return plant_of(anymal_spec(), joints)
    return load_plant(robot, joints, facts)


def joints_for(robot: str, size: int | None = None) -> tuple[str, ...]:
    """The robot's joints in the order in which logs without names have them; none where that cannot be told."""
    if robot == "anymal":
        from isthmus.robots.anymal.model import JOINTS

        return tuple(JOINTS) if size in (None, len(JOINTS)) else ()
    return usual_joints(robot, size)


def stance_for(robot: str, plant: Plant, given: tuple[float, ...]) -> Float:
    """The pose that an excitation is around: as given, the robot's own, or the middle of its ranges."""
    if given:
        if len(given) != len(plant.joints):
            raise Problem(f"a pose of {len(given)} angles does not fit {len(plant.joints)} joints")
        return np.array(given)
    if robot == "anymal":
        from isthmus.robots.anymal.model import STANCE

        return np.array(STANCE, dtype=np.float64)
    if robot in STANCES:
        return np.array(STANCES[robot])
    joints = plant.model.dof_jntid[plant.dofs]
    middle = plant.model.jnt_range[joints].mean(axis=1)
    return np.where(plant.model.jnt_limited[joints].astype(bool), middle, 0.0)
