"""A cord that hangs on a robot, for pictures of a run: nothing else knows of it."""

from dataclasses import asdict, dataclass
from pathlib import Path

from isthmus.io import from_json, read_json
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


@dataclass(frozen=True)
class Tied:
    """The content of the file."""

    ties: Cord


def save_cord(run: Path, cord: Cord) -> None:
    """Have the pictures of a run show a cord."""
    RunFolder(run).keep_json(run / NAME, asdict(Tied(cord)))


def load_cord(run: Path) -> Cord | None:
    """The cord that the pictures of a run show; None when it has none."""
    path = run / NAME
    if not path.exists():
        return None
    return from_json(Tied, read_json(path), path, "a cord", "; remove it to draw the run without one").ties
