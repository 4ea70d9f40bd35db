"""What a run writes down as it goes."""

from dataclasses import asdict, dataclass
from typing import Any

from isthmus.core import Problem
from isthmus.evaluate import Evaluation, Scale


@dataclass(frozen=True)
class Scored:
    """A score over the evaluation episodes."""

    score: float
    std: float

    @staticmethod
    def of(evaluation: Evaluation) -> "Scored":
        """Mean and spread of an evaluation."""
        return Scored(evaluation.score, float(evaluation.scores.std()))


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
    def from_json(data: dict[str, Any]) -> "Baseline":
        """Read back what `asdict` gave."""
        zero, expert, unadapted = (Scored(**data[name]) for name in ("zero", "expert", "unadapted"))
        return Baseline(zero, expert, unadapted, data["seconds"])


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

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)
