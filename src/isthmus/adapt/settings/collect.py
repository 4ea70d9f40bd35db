"""How target data is collected."""

from dataclasses import dataclass

from isthmus.core import check_settings


@dataclass(frozen=True)
class CollectSettings:
    """How target data is collected."""

    interrupt: float = 0.1
    """Probability that a step is interrupted by a random action."""
    interrupt_scale: float = 0.2
    """Size of random actions, as a share of the actuators' range."""
    drift: float = 3.0
    """Distance from the source's own trajectory, in its standard deviations, at which an episode is cut short."""
    first_share: float = 0.5
    """Share of the task's horizon that an episode takes in the first round; it doubles every round."""
    placed: int = 0
    """Random actions to try from every state along an episode: in simulation only."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings(
            (
                ("collect.interrupt", self.interrupt, 0 <= self.interrupt <= 1),
                ("collect.interrupt-scale", self.interrupt_scale, 0 < self.interrupt_scale <= 1),
                ("collect.drift", self.drift, self.drift > 0),
                ("collect.first-share", self.first_share, 0 < self.first_share <= 1),
                ("collect.placed", self.placed, 0 <= self.placed <= 10_000),
            )
        )

    def length(self, round_number: int, horizon: int) -> int:
        """Steps of an episode in that round: short at first, then longer."""
        return min(horizon, max(int(self.first_share * horizon), 1) << min(round_number, 30))
