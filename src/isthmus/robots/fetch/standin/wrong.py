"""Wrong readings of each kind, as broken sensors and drivers give them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from isthmus.hardware.ros1.messages import JointReading

Wrong = Literal["none", "jump", "outside", "huge", "nan", "velocity", "stuck", "swapped", "repeated"]
PAN, ROLL, ELBOW = -7, -5, -4
"""Shoulder pan, upper arm roll and elbow flex among the joints of a reading, of which the arm's are the last seven."""
Spoil = Callable[[JointReading, JointReading], JointReading]
"""From a reading, and the one with which the faults began, to the one that is reported."""


def _placed(joint: int, moved: Callable[[float], float]) -> Spoil:
    def spoil(reading: JointReading, _first: JointReading) -> JointReading:
        positions = reading.positions.copy()
        positions[joint] = moved(float(positions[joint]))
        return replace(reading, positions=positions)

    return spoil


def _hasty(reading: JointReading, _first: JointReading) -> JointReading:
    velocities = reading.velocities.copy()
    velocities[PAN] = 1e300
    return replace(reading, velocities=velocities)


def _stuck(reading: JointReading, first: JointReading) -> JointReading:
    positions, velocities = reading.positions.copy(), reading.velocities.copy()
    positions[ROLL], velocities[ROLL] = first.positions[ROLL], 0.0
    return replace(reading, positions=positions, velocities=velocities)


def _swapped(reading: JointReading, _first: JointReading) -> JointReading:
    order = np.arange(len(reading.positions))
    order[[PAN, ELBOW]] = order[[ELBOW, PAN]]
    return replace(reading, positions=reading.positions[order], velocities=reading.velocities[order])


def _repeated(reading: JointReading, first: JointReading) -> JointReading:
    return replace(reading, positions=first.positions, velocities=first.velocities)


WRONGS: dict[str, Spoil] = {
    "jump": _placed(PAN, lambda at: at - 1.0 if at > 0 else at + 1.0),
    "outside": _placed(ELBOW, lambda at: at + 5.0),
    "huge": _placed(PAN, lambda _at: 1e300),
    "nan": _placed(PAN, lambda _at: np.nan),
    "velocity": _hasty,
    "stuck": _stuck,
    "swapped": _swapped,
    "repeated": _repeated,
}
