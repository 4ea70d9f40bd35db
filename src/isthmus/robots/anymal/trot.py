"""A trot without feedback: where each foot would be in a walk of the commanded speed, by inverse kinematics.

It walks badly by itself: legs sag under the robot's weight and slip. A learned policy adds to it.
"""

from functools import cache

import numpy as np

from isthmus.core import Float
from isthmus.robots.anymal.legs import foot, reach
from isthmus.robots.anymal.model import LEGS, STANCE

PERIOD = 0.5
"""Of a stride, in s: each foot stands for half of it."""
LIFT = 0.09
"""How high a foot is lifted, in m."""
FASTEST = 1.2
"""Commands beyond this are walked like this, in m/s."""
PHASES, SPEEDS = 100, 13
"""Of the table that is looked up."""


def trot(times: Float, speeds: Float) -> Float:
    """Joint angles (n, 12) at times (n,) since the start, in s, of walks at `speeds` (n,), in m/s."""
    table = _table()
    phase = np.mod(times / PERIOD, 1.0) * PHASES
    speed = np.clip(speeds / FASTEST, 0.0, 1.0) * (SPEEDS - 1)
    row, column = phase.astype(np.intp) % PHASES, np.minimum(speed.astype(np.intp), SPEEDS - 2)
    along, across = (phase - row)[:, None], (speed - column)[:, None]
    after = (row + 1) % PHASES
    now = (1 - across) * table[row, column] + across * table[row, column + 1]
    then = (1 - across) * table[after, column] + across * table[after, column + 1]
    return (1 - along) * now + along * then


@cache
def _table() -> Float:
    """Joint angles (phases, speeds, 12)."""
    phases, speeds = np.arange(PHASES) / PHASES, np.linspace(0.0, FASTEST, SPEEDS)
    table = np.zeros((PHASES, SPEEDS, len(STANCE)))
    for number, leg in enumerate(LEGS):
        mine = slice(3 * number, 3 * number + 3)
        path = _path(phases + (0.0 if leg in ("LF", "RH") else 0.5), speeds)
        table[..., mine] = reach(leg, foot(leg, STANCE[mine]) + path, STANCE[mine])
    return table


def _path(phases: Float, speeds: Float) -> Float:
    """Where a foot is beside its standing place (phases, speeds, 3): in the air for the first half of a stride."""
    phase = np.mod(phases, 1.0)[:, None]
    stride = speeds * PERIOD / 2
    swings, part = phase < 0.5, np.mod(2 * phase, 1.0)
    forward = np.where(swings, -np.cos(np.pi * part) / 2, 0.5 - part) * stride
    height = np.where(swings, np.sin(np.pi * part) ** 2, 0.0) * LIFT + 0 * stride
    return np.stack([forward, np.zeros_like(forward), height], axis=-1)
