"""How experts are trained; apart from the training itself, which needs torch and Stable-Baselines3."""

from dataclasses import dataclass

from isthmus.core import check_settings


@dataclass(frozen=True)
class TrainSettings:
    """The settings of TRPO; the defaults are for locomotion."""

    steps: int = 20_000_000
    """Environment steps in all."""
    worlds: int = 128
    """Simulations that run side by side."""
    batch: int = 400
    """Steps of each world between two updates."""
    kl: float = 0.01
    """Largest KL divergence of an update."""
    discount: float = 0.995
    """Weight of the next step's reward."""
    gae: float = 0.97
    """Lambda of generalised advantage estimation."""
    hidden: int = 64
    """Units in each of the two tanh layers."""
    subsample: int = 1
    """The curvature of an update is estimated from one in so many states: 5 trains half as fast again."""
    initial_std: float = 1.0
    """Standard deviation of the actions at first; wide exploration makes a robust expert."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings(
            (
                ("steps", self.steps, self.steps >= 1),
                ("worlds", self.worlds, self.worlds >= 1),
                ("batch", self.batch, self.batch >= 2),
                ("kl", self.kl, self.kl > 0),
                ("discount", self.discount, 0 < self.discount <= 1),
                ("gae", self.gae, 0 <= self.gae <= 1),
                ("hidden", self.hidden, self.hidden >= 1),
                ("subsample", self.subsample, self.subsample >= 1),
                ("initial-std", self.initial_std, self.initial_std > 0),
            )
        )
