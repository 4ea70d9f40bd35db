"""What a run writes down as it goes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Float, Problem
from isthmus.evaluate import Scale
from isthmus.evaluate.effort import Effort
from isthmus.io import from_json, read_json
from isthmus.transfer.old_names import ROUND, current_names


@dataclass(frozen=True)
class Scored:
    """A score over the evaluation episodes."""

    score: float
    std: float
    effort: Effort | None = None
    """How hard the actuators worked for it; None in records of earlier versions."""

    @staticmethod
    def of(scores: Float, effort: Effort | None = None) -> "Scored":
        """Mean and standard deviation over episodes (n,)."""
        if not np.isfinite(scores).all():
            raise Problem("an episode's score is not finite: check the policy's commands and the target's reward")
        return Scored(float(scores.mean()), float(scores.std()), effort)


@dataclass(frozen=True)
class Baseline:
    """What there is before adaptation."""

    zero: Scored
    """The zero action in the source simulator."""
    expert: Scored
    """The expert in the source simulator."""
    unadapted: Scored
    """The expert on the target."""
    seconds: float

    @property
    def scale(self) -> Scale:
        """The normalised scale these scores make."""
        if not self.expert.score > self.zero.score:
            raise Problem(
                f"the expert scores {self.expert.score:g} in its own simulator, no better than doing nothing "
                f"({self.zero.score:g}): train it longer, or check the policy"
            )
        return Scale(self.zero.score, self.expert.score)

    @staticmethod
    def load(path: Path) -> "Baseline":
        """Read a baseline."""
        return from_json(
            Baseline, current_names(read_json(path), ROUND), path, "a run's baseline", "; remove it to score it again"
        )


@dataclass(frozen=True)
class Round:
    """One round of collecting and learning."""

    round: int
    samples: int
    """Target samples so far."""
    episodes: int
    """Episodes collected in this round."""
    score: float
    std: float
    normalised: float
    fit: dict[str, Any]
    """Passes, losses and held-out action errors."""
    seconds: dict[str, float]
    """Time spent collecting, fitting and evaluating."""
    evaluated: bool = True
    """Whether the policy was scored after this round; if not, the scores are the latest before."""
    effort: Effort | None = None
    """How hard the actuators worked."""

    def __post_init__(self) -> None:
        """Refuse a round that lacks what is shown of it: it may come from a file."""
        if missing := {"collect", "fit", "evaluate"} - self.seconds.keys():
            raise ValueError(f"seconds has no {min(missing)}")
        for name in ("error", "action_std"):
            figures = self.fit.get(name)
            if not isinstance(figures, list | tuple) or not all(isinstance(one, int | float) for one in figures):  # pyright: ignore[reportUnknownVariableType]
                raise ValueError(f"fit.{name} is not a list of numbers")
        if len(self.fit["error"]) != len(self.fit["action_std"]):
            raise ValueError("fit.error and fit.action_std are not of the same actuators")

    @staticmethod
    def load(path: Path) -> "Round":
        """Read a round."""
        advice = "; remove it to do the round again"
        return from_json(Round, current_names(read_json(path), ROUND), path, "the record of a round", advice)
