"""What happened to the arm, as the arm itself recorded it.

A line of JSON for every message that came and for every hundredth of a second, each with the time by the wall's clock.
"""

import json
import time
from pathlib import Path

import numpy as np

from isthmus.core import Float
from isthmus.hardware.goal import Cancel, Goal


class FlightLog:
    """A file that is complete up to the last line, whatever becomes of the process."""

    def __init__(self, path: Path, speeds: Float) -> None:
        """Write to `path`; `speeds` are the joints' limits (7,)."""
        self._file = path.open("w", buffering=1, encoding="utf-8")
        self._speeds, self._fastest = speeds, 0.0

    def message(self, received: Goal | Cancel) -> None:
        """Write that a goal or a cancel came."""
        if isinstance(received, Goal):
            points = [(after, positions.tolist()) for after, positions in received.points]
            self._write(kind="goal", stamp=received.stamp, names=received.names, points=points)
        elif received.everything:
            self._write(kind="hold")

    def fault(self) -> None:
        """Write that the faults began."""
        self._write(kind="fault")

    def move(self, speeds: Float) -> None:
        """Take note of how fast the joints are (7,)."""
        self._fastest = max(self._fastest, float((np.abs(speeds) / self._speeds).max()))

    def state(self, positions: Float, speeds: Float) -> None:
        """Write where the joints are, how fast, each (7,), and the fastest of them since the last time."""
        self._write(kind="state", positions=positions.tolist(), speeds=speeds.tolist(), fastest=self._fastest)
        self._fastest = 0.0

    def _write(self, **line: object) -> None:
        self._file.write(json.dumps({"at": time.time(), **line}) + "\n")
