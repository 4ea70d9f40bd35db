"""What a run writes down as it goes."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isthmus.core import Float, Problem
from isthmus.data import read_json
from isthmus.evaluate import Scale


@dataclass(frozen=True)
class Scored:
    """A score over the evaluation episodes."""

    score: float
    std: float

    def __post_init__(self) -> None:
        """Refuse figures that are none: they may come from a file."""
        _check_numbers(self.score, self.std)

    @staticmethod
    def of(scores: Float) -> "Scored":
        """Mean and spread over episodes (n,)."""
        return Scored(float(scores.mean()), float(scores.std()))


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
        data = read_json(path)
        try:
            zero, expert, unadapted = (Scored(**data[name]) for name in ("zero", "expert", "unadapted"))
            return Baseline(zero, expert, unadapted, float(data["seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path} is not a run's baseline ({error}); remove it to score it again") from error


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

    def __post_init__(self) -> None:
        """Refuse figures that are none: they may come from a file."""
        _check_numbers(self.round, self.samples, self.episodes, self.score, self.std, self.normalised)
        _check_numbers(*(self.seconds[phase] for phase in ("collect", "fit", "evaluate")))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @staticmethod
    def load(path: Path) -> "Round":
        """Read a round."""
        try:
            return Round(**read_json(path))
        except (KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path} is not the record of a round ({error}); remove it to do the round again") from error


def _check_numbers(*values: object) -> None:
    for value in values:
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{value!r} is not a number")
