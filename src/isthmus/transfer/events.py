"""What a running run tells whoever watches it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["baseline", "collect", "fit", "evaluate", "done"]


@dataclass(frozen=True)
class Glimpse:
    """One control step of a robot that is moving now."""

    distance: float | None
    """From where it should be, as a share, where the task measures that."""
    rate: float
    """Control steps a second."""
    steps: int
    missed: int
    """Deadlines missed so far."""
    seconds: float
    """Of robot time so far."""


Look = Callable[[Glimpse], None]


@dataclass(frozen=True)
class Event:
    """Where a run is."""

    phase: Phase
    samples: int
    """Target samples so far."""
    budget: int
    round_number: int = 0
    epoch: int = 0
    """Pass of the fit under way."""
    loss: float = float("nan")
    """Its held-out loss."""
    normalised: float | None = None
    """The latest score."""


Watcher = Callable[[Event], None]
