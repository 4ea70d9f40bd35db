"""Motions that show what ANYmal's drives do: sine foot paths, and steps as a policy's targets make them.

Sine paths alone are smooth. A policy's targets are not: they step 50 times a second, so half of the data is stepped.
"""

import numpy as np

from isthmus.core import Float
from isthmus.robots.anymal.legs import foot, reach
from isthmus.robots.anymal.model import LEGS, STANCE, TIMESTEP
from isthmus.robots.anymal.task import FRAME_SKIP
from isthmus.robots.anymal.trot import trot

SLOWEST, FASTEST = 1.0, 25.0
"""Of the sines, in Hz."""
KNEE = 3.0
"""From this frequency on the foot's amplitude falls, in Hz."""


def sines(n: int, seconds: float, rng: np.random.Generator) -> Float:
    """Targets (T, n, 12) at 400 Hz: feet on sine paths of 5 to 10 cm whose frequency rises from 1 to 25 Hz.

    The lowest point of the largest paths is out of a leg's reach: there, in a few thousandths of the samples, joints
    jump. The stand-in takes no harm; a robot would need smaller paths.
    """
    times = np.arange(round(seconds / TIMESTEP)) * TIMESTEP
    out = np.zeros((len(times), n, len(STANCE)))
    for robot in range(n):
        along = np.mod(times / seconds + rng.uniform(), 1.0)
        frequency = SLOWEST * (FASTEST / SLOWEST) ** along
        amplitude = rng.uniform(0.05, 0.10) * np.minimum(1.0, (KNEE / frequency) ** 1.5)
        phase = 2 * np.pi * np.cumsum(frequency) * TIMESTEP
        trots = rng.random() < 0.5
        for number, leg in enumerate(LEGS):
            own = (0.0 if leg in ("LF", "RH") else np.pi) if trots else rng.uniform(0, 2 * np.pi)
            forward, aside = rng.uniform(0, 2 * np.pi, 2)
            path = [0.5 * np.sin(phase + own + forward), 0.25 * np.sin(0.7 * phase + aside), np.sin(phase + own)]
            mine = slice(3 * number, 3 * number + 3)
            place = foot(leg, STANCE[mine]) + amplitude[:, None] * np.stack(path, axis=-1)
            out[:, robot, mine] = reach(leg, place, STANCE[mine])
    return out


def steps(n: int, seconds: float, rng: np.random.Generator) -> Float:
    """Targets (T, n, 12) held for 20 ms each: trots of many speeds and rates, each joint off by random steps."""
    count = round(seconds / (TIMESTEP * FRAME_SKIP))
    out = np.zeros((count, n, len(STANCE)))
    for robot in range(n):
        rate, offset = rng.uniform(0.7, 1.3), rng.uniform()
        times: Float = np.arange(count, dtype=np.float64) * (TIMESTEP * FRAME_SKIP) * rate + offset
        walked = trot(times, np.full(count, rng.uniform(0.0, 1.2)))
        lasting = np.repeat(rng.normal(0, 0.1, (count // 25 + 1, len(STANCE))), 25, axis=0)[:count]
        out[:, robot] = walked + lasting + rng.normal(0, rng.uniform(0.03, 0.18), walked.shape)
    return np.repeat(out, FRAME_SKIP, axis=0)
