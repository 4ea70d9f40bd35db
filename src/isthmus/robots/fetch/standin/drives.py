"""The seven drives: a position controller at 1 kHz, a motor with friction that warms up, and gears with backlash."""

import math
from collections.abc import Sequence

import numpy as np

from isthmus.core import Float
from isthmus.robots.fetch.standin.parameters import Parameters

TICK = 0.001
"""Seconds of a controller step."""
STRIBECK = 0.05
"""Speed above which a joint no longer sticks, in rad/s."""
HOT = 50.0


class Drive:
    """One joint's motor, at the joint's side of the gears.

    In plain numbers: for so few of them, a thousand times a second, arrays would cost several times as much.
    """

    def __init__(self, of: Parameters, joint: int, at: float) -> None:
        """Stand still at an angle, cold."""
        self._gain, self._damping, self._foresight = float(of.stiffness[joint]), float(of.damping[joint]), of.foresight
        self._known, self._effort = of.gravity_known, float(of.effort[joint])
        self._share = TICK / float(of.inertia[joint])
        self._viscous, self._sliding = float(of.viscous[joint]), float(of.sliding[joint])
        self._grip = float(of.sticking[joint]) - self._sliding
        self._play = float(of.backlash[joint])
        self._gear, self._gear_damping = float(of.gear_stiffness[joint]), float(of.gear_damping[joint])
        self._warming, self._cooling = float(of.warming[joint]), of.cooling
        self._weakening = of.weakening / HOT
        self._angle, self._speed = at, 0.0
        self.warmth = 0.0
        """Kelvin above the room."""

    def tick(self, wanted: float, wanted_speed: float, gravity: float, joint: float, joint_speed: float) -> float:
        """One millisecond on the way to `wanted`: the torque on the arm."""
        effort = self._effort
        torque = self._gain * (wanted - self._angle) + self._damping * (self._foresight * wanted_speed - self._speed)
        torque = min(max(torque + self._known * gravity, -effort), effort)
        self.warmth += TICK * (self._warming * (torque / effort) ** 2 - self.warmth / self._cooling)
        torque *= 1.0 - self._weakening * self.warmth
        twist = self._angle - joint
        beyond = twist - min(max(twist, -self._play), self._play)
        passed = self._gear * beyond + self._gear_damping * (self._speed - joint_speed) if beyond else 0.0
        self._turn(torque - passed)
        return passed

    def _turn(self, torque: float) -> None:
        """Move the motor: friction takes what speed it can, and no more, so that a motor can come to rest and stick."""
        speed = self._speed
        free = speed + self._share * (torque - self._viscous * speed)
        friction = self._share * (self._sliding + self._grip * math.exp(-((speed / STRIBECK) ** 2)))
        self._speed = math.copysign(max(abs(free) - friction, 0.0), free)
        self._angle += TICK * self._speed


class Drives:
    """All of them."""

    def __init__(self, parameters: Parameters, at: Float) -> None:
        """Stand still at joint angles (7,), cold."""
        self._each = [Drive(parameters, joint, angle) for joint, angle in enumerate(at.tolist())]

    @property
    def warmth(self) -> Float:
        """Kelvin above the room (7,)."""
        return np.array([drive.warmth for drive in self._each])

    def tick(
        self,
        wanted: Sequence[float],
        speeds: Sequence[float],
        gravity: Sequence[float],
        joints: Sequence[float],
        joint_speeds: Sequence[float],
    ) -> list[float]:
        """One millisecond: from wanted angles and speeds, and what the joints are doing, to torques on the arm."""
        return [
            drive.tick(*numbers)
            for drive, *numbers in zip(self._each, wanted, speeds, gravity, joints, joint_speeds, strict=True)
        ]
