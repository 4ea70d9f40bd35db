"""What a running crossing tells whoever watches it."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["baseline", "collect", "fit", "evaluate", "done"]


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
