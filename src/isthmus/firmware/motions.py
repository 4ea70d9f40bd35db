"""What a host asks of the robot while its firmware is tried: standing, squatting, pushes, walking, a turntable."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, unknown_name

SETTLE = 0.5
"""Seconds at the start in which nothing is asked."""
PUSH_EVERY, PUSH_LASTS = 1.5, 0.1
Targets = Callable[[float, int], Float]
"""From time and number of joints to joint targets (J,), in radians from the firmware's pose."""


@dataclass(frozen=True)
class Motion:
    """A course of targets, and what disturbs the robot meanwhile."""

    name: str
    summary: str
    at: Targets
    push: float = 0.0
    """Standard deviation of the pushes on the trunk, in N along x and y."""
    frozen: bool = False
    """Whether the robot is on a turntable, its physics frozen."""

    def targets(self, t: float, joints: int) -> Float:
        """What is asked for at a time."""
        return self.at(t, joints) if t >= SETTLE else np.zeros(joints)

    def force(self, t: float, seed: int) -> Float:
        """The push on the trunk at a time (3,), in N."""
        number, within = divmod(t - SETTLE, PUSH_EVERY)
        if not self.push or number < 0 or within >= PUSH_LASTS:
            return np.zeros(3)
        return np.random.default_rng((seed, int(number))).normal(0, self.push, 3) * [1, 1, 0]


def _legs(lengths: Float, swings: Float | None = None) -> Float:
    """Targets (3 * legs,) that make legs shorter by an angle, and swing them forward by another."""
    swings = np.zeros_like(lengths) if swings is None else swings
    return np.stack([np.zeros_like(lengths), lengths + swings, -2 * lengths], axis=1).ravel()


def _stand(_t: float, joints: int) -> Float:
    return np.zeros(joints)


def _squat(t: float, joints: int) -> Float:
    """Up and down, and from side to side, whatever the number of legs."""
    legs = max(joints // 3, 1)
    side = np.where(np.arange(legs) % 2 == 0, 1.0, -1.0)
    down = 0.072 * np.sin(2 * np.pi * 0.8 * t) + 0.06 * np.sin(2 * np.pi * 0.6 * t) * side
    return _padded(_legs(down), joints)


def _walk(t: float, joints: int) -> Float:
    """A trot: legs across from each other lift and swing together."""
    legs = max(joints // 3, 1)
    phase = 2 * np.pi * (2.0 * t + np.array([0.0, 0.5, 0.5, 0.0])[:legs])
    ramp = min(1.0, (t - SETTLE) / 1.0)
    lift = 0.3 * np.maximum(np.sin(phase), 0) * ramp
    return _padded(_legs(lift, 0.12 * np.cos(phase) * ramp), joints)


def _padded(values: Float, joints: int) -> Float:
    out = np.zeros(joints)
    out[: min(joints, len(values))] = values[:joints]
    return out


MOTIONS = {
    motion.name: motion
    for motion in (
        Motion("stand", "stand still", _stand),
        Motion("squat", "up and down, from side to side, with pushes", _squat, push=25.0),
        Motion("push", "stand, and be pushed hard", _stand, push=40.0),
        Motion("walk", "trot on the spot of the host's choosing", _walk),
        Motion("turntable", "the robot is frozen, and its IMU turned about all axes", _stand, frozen=True),
    )
}


def motion_of(name: str) -> Motion:
    """The motion of that name."""
    if name not in MOTIONS:
        raise unknown_name("task", name, MOTIONS)
    return MOTIONS[name]


def turntable_truth(seconds: float, step: float) -> tuple[Float, Float]:
    """What an ideal IMU on a turntable shows (T, 6), and the true attitude (T, 4), w first."""
    t = np.arange(round(seconds / step)) * step
    ramp = np.clip((t - SETTLE) / 1.0, 0, 1)
    rates = (
        np.stack([0.9 * np.sin(1.3 * t), 0.8 * np.sin(1.7 * t + 1), 0.3 * np.sin(0.9 * t + 2)], axis=1) * ramp[:, None]
    )
    attitude = np.zeros((len(t), 4))
    q = np.array([1.0, 0, 0, 0])
    for i, rate in enumerate(rates):
        angle = float(np.linalg.norm(rate)) * step
        axis = rate * step / angle if angle > 0 else rate
        w, (x, y, z) = np.cos(angle / 2), np.sin(angle / 2) * axis
        a, b, c, d = q
        q = np.array(
            [
                a * w - b * x - c * y - d * z,
                a * x + b * w + c * z - d * y,
                a * y - b * z + c * w + d * x,
                a * z + b * y - c * x + d * w,
            ]
        )
        attitude[i] = q
    a, b, c, d = attitude.T
    up = np.stack([2 * (b * d - a * c), 2 * (a * b + c * d), a * a - b * b - c * c + d * d], axis=1)
    return np.hstack([rates, 9.80665 * up]), attitude
