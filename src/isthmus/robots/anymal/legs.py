"""Where ANYmal's feet are for given joint angles, and which angles put them somewhere, for many poses at once."""

import numpy as np

from isthmus.core import Float
from isthmus.robots.anymal.model import LEGS

HIP, THIGH = np.array([0.277, 0.116, 0.0]), np.array([0.0635, 0.041, 0.0])
SHANK, FOOT = np.array([0.0, 0.109, -0.25]), np.array([0.1, -0.02, -0.298])
"""From one joint to the next, and to the foot, in m, for the left fore leg."""
ROUNDS, LARGEST, DAMPED = 14, 0.2, 1e-4


def feet(angles: Float) -> Float:
    """Feet (..., 4, 3) in the frame of the base, for joint angles (..., 12)."""
    legs = angles.reshape(*angles.shape[:-1], 4, 3)
    return np.stack([foot(leg, legs[..., number, :]) for number, leg in enumerate(LEGS)], axis=-2)


def foot(leg: str, angles: Float) -> Float:
    """The foot of a leg (..., 3) in the frame of the base, for its angles (..., 3)."""
    fore, left = 1.0 if leg[1] == "F" else -1.0, 1.0 if leg[0] == "L" else -1.0
    side = np.array([fore, left, 1.0])
    knee = SHANK * side + _about_y(angles[..., 2], np.broadcast_to(FOOT * side, angles.shape))
    return HIP * side + _about_x(angles[..., 0], THIGH * side + _about_y(angles[..., 1], knee))


def reach(leg: str, place: Float, near: Float) -> Float:
    """Angles (..., 3) that put the foot at `place` (..., 3), found by damped Newton steps from `near` (3,)."""
    angles = np.broadcast_to(near, place.shape).copy()
    step, unit = 1e-5, np.eye(3)
    for _ in range(ROUNDS):
        now = foot(leg, angles)
        slope = np.stack([(foot(leg, angles + step * axis) - now) / step for axis in unit], axis=-1)
        across = np.swapaxes(slope, -1, -2)
        moved = across @ np.linalg.solve(slope @ across + DAMPED * unit, (place - now)[..., None])
        angles += np.clip(moved[..., 0], -LARGEST, LARGEST)
    return angles


def _about_x(angle: Float, vector: Float) -> Float:
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = np.moveaxis(vector, -1, 0)
    return np.stack([x + 0 * c, c * y - s * z, s * y + c * z], axis=-1)


def _about_y(angle: Float, vector: Float) -> Float:
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = np.moveaxis(vector, -1, 0)
    return np.stack([c * x + s * z, y + 0 * c, -s * x + c * z], axis=-1)
