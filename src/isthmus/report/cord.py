"""A cord that hangs on a robot, for pictures of a run: nothing else knows of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from isthmus.core import Problem
from isthmus.io import read_json
from isthmus.transfer import RunFolder

NAME = "cord.json"
"""Beside the pieces of a run."""


@dataclass(frozen=True)
class Tie:
    """One end of a cord."""

    body: str
    """What it is tied to, as the model names it."""
    point: tuple[float, float, float]
    """Where on it, in its own frame, in m."""


Cord = tuple[Tie, Tie]


def save_cord(run: Path, cord: Cord) -> None:
    """Have the pictures of a run show a cord."""
    RunFolder(run).keep_json(run / NAME, {"ties": [asdict(tie) for tie in cord]})


def load_cord(run: Path) -> Cord | None:
    """The cord that the pictures of a run show; None when it has none."""
    path = run / NAME
    if not path.exists():
        return None
    try:
        return as_cord(read_json(path)["ties"])
    except (KeyError, TypeError, ValueError) as error:
        raise Problem(f"{path} is not a cord ({error}); remove it to draw the run without one") from error


def as_cord(ties: Sequence[dict[str, object]]) -> Cord:
    """A cord from plain data; KeyError, TypeError or ValueError when it is none."""
    first, second = ties
    return _tie(first), _tie(second)


def _tie(data: dict[str, object]) -> Tie:
    x, y, z = np.array(data["point"], dtype=np.float64).tolist()
    if not np.isfinite((x, y, z)).all():
        raise ValueError("a point is not finite")
    return Tie(str(data["body"]), (x, y, z))
