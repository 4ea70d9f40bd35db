"""What a method has learned, as plain data, and the file that holds it."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.adapt.common.metric_state import stored_metric
from isthmus.core import Int, Problem
from isthmus.core.metric import Metric
from isthmus.io import load_arrays, pack_arrays, save_arrays, unpack_arrays


@dataclass(frozen=True)
class MethodState:
    """Arrays by name, and numbers and texts that describe them."""

    kind: str
    """The model or method that it belongs to. A file of another kind is refused."""
    arrays: Mapping[str, np.ndarray]
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    origin: str = "this state"
    """What messages call it: the file that it was read from."""

    def write(self, path: Path) -> None:
        """Write it as one npz file."""
        save_arrays(path, self.arrays, {"kind": self.kind, **self.about})

    @staticmethod
    def read(path: Path, kind: str) -> "MethodState":
        """The state that `write` wrote; a Problem if it is of another kind or damaged."""
        return MethodState(kind, *load_arrays(path, kind), str(path))

    def packed(self) -> np.ndarray:
        """The content of its file as one array of bytes, to be part of another state."""
        return np.frombuffer(pack_arrays(self.arrays, {"kind": self.kind, **self.about}), np.uint8)

    def part(self, name: str, kind: str) -> "MethodState":
        """The state that was packed into the array of that name."""
        return MethodState(
            kind, *unpack_arrays(io.BytesIO(self.arrays[name].tobytes()), kind, self.origin), self.origin
        )

    def metric(self, targets: Int) -> Metric | None:
        """The metric that it has, for the robot's targets; None where it has none of its own."""
        try:
            return stored_metric(self.arrays, self.about, targets)
        except (KeyError, ValueError, TypeError) as error:
            raise self.damaged(error) from error

    def damaged(self, why: object) -> Problem:
        """The Problem with a state that does not hold what its kind says."""
        return Problem(f"{self.origin} is not {self._article} {self.kind} file, or it is damaged ({why})")

    def foreign(self) -> Problem:
        """The Problem with a state that does not fit the robot."""
        return Problem(f"{self.origin} is not {self._article} {self.kind} file of this robot, or it is damaged")

    @property
    def _article(self) -> str:
        return "an" if self.kind[0] in "aeiou" else "a"
