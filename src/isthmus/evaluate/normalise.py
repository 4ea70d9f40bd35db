"""The scale every result is reported on: the expert in its own simulator is 1, the zero action there is 0."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """(score - s0) / (s_expert - s0), for every task."""

    zero: float
    """Score of the zero action in the source simulator."""
    expert: float
    """Score of the expert in the source simulator."""

    def __post_init__(self) -> None:
        """Refuse a scale of no length."""
        if not self.expert > self.zero:
            raise ValueError(f"the expert scores {self.expert:g}, no better than doing nothing ({self.zero:g})")

    def __call__(self, score: float) -> float:
        """A score as a share of the expert's."""
        return (score - self.zero) / (self.expert - self.zero)

    def score(self, share: float) -> float:
        """The score that is such a share of the expert's."""
        return self.zero + share * (self.expert - self.zero)
