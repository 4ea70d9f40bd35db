"""How experts are trained; apart from the training itself, which needs torch and Stable-Baselines3."""

from dataclasses import dataclass
from typing import Literal

from isthmus.core import Problem, check_settings
from isthmus.gaps import Ranges

Algorithm = Literal["ppo", "trpo", "gradient"]


@dataclass(frozen=True)
class TrainSettings:
    """The settings of PPO and TRPO; the defaults are for locomotion."""

    algorithm: Algorithm = "ppo"
    """TRPO is what the paper used; PPO gets as far with a tenth of the steps. `gradient` goes on from a policy by the
    simulator's own derivatives, for a robot that moves smoothly."""
    steps: int = 10_000_000
    """Environment steps in all."""
    worlds: int = 64
    """Simulations that run side by side."""
    batch: int = 64
    """Steps of each world between two updates."""
    discount: float = 0.98
    """Weight of the next step's reward."""
    gae: float = 0.92
    """Lambda of generalised advantage estimation."""
    hidden: int = 128
    """Units in each of the two tanh layers."""
    initial_std: float = 0.4
    """Standard deviation of the actions at first."""
    rate: float = 3e-4
    """Learning rate of PPO and `gradient` at first; it falls to a twentieth in a straight line."""
    minibatch: int = 512
    """States in a step of PPO's optimiser."""
    epochs: int = 10
    """PPO's passes over a batch."""
    entropy: float = 0.003
    """What PPO pays for wide exploration, which makes a robust expert."""
    kl: float = 0.01
    """Largest KL divergence of an update of TRPO."""
    subsample: int = 1
    """TRPO estimates the curvature from one in so many states."""
    randomise: str = ""
    """Gaps that are drawn anew in every simulation and episode, as in mass=0.8:1.25,delay=0:1 or inertial; none when
    empty."""

    conditioned: bool = False
    """Tell the policy the physics that was drawn, which `--method conditioned` identifies on the target."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings(
            (
                ("steps", self.steps, self.steps >= 1),
                ("worlds", self.worlds, self.worlds >= 1),
                ("batch", self.batch, self.batch >= 2),
                ("discount", self.discount, 0 < self.discount <= 1),
                ("gae", self.gae, 0 <= self.gae <= 1),
                ("hidden", self.hidden, self.hidden >= 1),
                ("initial-std", self.initial_std, self.initial_std > 0),
                ("rate", self.rate, self.rate > 0),
                ("minibatch", self.minibatch, self.minibatch >= 2),
                ("epochs", self.epochs, self.epochs >= 1),
                ("entropy", self.entropy, self.entropy >= 0),
                ("kl", self.kl, self.kl > 0),
                ("subsample", self.subsample, self.subsample >= 1),
            )
        )
        if self.randomise:
            Ranges.parse(self.randomise)
        elif self.conditioned:
            raise Problem("--conditioned is for physics that differs: give --randomise too, as in mass=0.8:1.25")
        if self.conditioned and self.algorithm == "gradient":
            raise Problem("--conditioned is for --algorithm ppo or trpo: the gradient is that of one simulator")


RECIPES = {
    "reacher": TrainSettings(
        algorithm="trpo",
        steps=20_000_000,
        worlds=256,
        batch=50,
        discount=0.99,
        gae=0.97,
        hidden=64,
        initial_std=1.0,
    ),
    "hopper": TrainSettings(steps=3_000_000, discount=0.99, gae=0.95, hidden=64, initial_std=0.5),
    "half-cheetah": TrainSettings(steps=2_000_000, initial_std=0.15, entropy=0.0),
    "leg-squat": TrainSettings(steps=400_000, hidden=64, initial_std=0.1, entropy=0.0, rate=1e-3),
    "humanoid": TrainSettings(steps=4_000_000, initial_std=0.3, entropy=0.002),
}
"""By task name; a task that is not here is trained with the defaults."""


def recipe_of(task: str) -> TrainSettings:
    """The recipe of a task, whatever options it has."""
    return RECIPES.get(task.partition(":")[0], TrainSettings())
