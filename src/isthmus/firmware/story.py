"""Why firmware belongs in the loop: replies taken in the order of their arrival, with and without jitter.

With motors that all reply after the same time, taking replies in order of arrival is harmless: the order is that of the
commands. With replies after 0.4 to 2 ms it is not, and the robot that stood in every simulation collapses.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.firmware.board import Board
from isthmus.firmware.campaign import observe
from isthmus.firmware.elf import Elf
from isthmus.firmware.faults import Case
from isthmus.firmware.loop import Loop
from isthmus.firmware.motions import MOTIONS

FASTEST_MS = 0.4
LATEST_MS = (0.4, 0.5, 0.6, 0.8, 1.2, 2.0)
"""Replies come after U(0.4, this) ms; the first is a constant delay."""
SECONDS = 4.0
SETTLED = 1.0
FALLEN = 0.7
"""Cosine of the tilt below which a robot has fallen over."""
DOWN_M = 0.15
"""Height of the trunk at which a robot lies: it stands at 0.26 m and is 0.05 m thick below its middle."""


@dataclass(frozen=True)
class Told:
    """How one run went."""

    torque_step_rms: float
    """Change of the torques asked for from one millisecond to the next, N m."""
    height_m: float
    """Height of the trunk at the end."""
    tilt_rad: float
    """The largest tilt after settling."""
    fell: bool
    """Over, or down on its belly."""

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "torque_step_rms": round(self.torque_step_rms, 5),
            "height_m": round(self.height_m, 5),
            "tilt_rad": round(self.tilt_rad, 5),
            "fell": self.fell,
        }


def tell(board: Board, elf: Elf, latest_ms: float, seed: int) -> Told:
    """Squat and be pushed for some seconds while motors reply after 0.4 ms to `latest_ms`."""
    knobs = {"*.reply_lo_ms": FASTEST_MS, "*.reply_hi_ms": latest_ms}
    with Loop(board, elf) as loop:
        seen = observe(loop, Case("story", "", knobs, motion=MOTIONS["squat"], seconds=SECONDS), seed)
        assert loop.data is not None and seen.upright is not None  # noqa: S101, PT018 - the quadruped has a trunk
        settled = seen.time >= SETTLED
        tilt = np.arccos(np.clip(seen.upright[settled], -1, 1))
        return Told(
            float(np.sqrt(np.mean(np.diff(seen.asked[settled], axis=0) ** 2))),
            height := float(loop.data.qpos[2]),
            float(tilt.max()),
            bool((seen.upright[settled] < FALLEN).any()) or height < DOWN_M,
        )
