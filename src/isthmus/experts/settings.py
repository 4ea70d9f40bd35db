"""How experts are trained; apart from the training itself, which needs torch and Stable-Baselines3."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainSettings:
    """How an expert is trained; the defaults are Reacher's."""

    steps: int = 20_000_000
    """Environment steps in all."""
    worlds: int = 256
    """Simulations that run side by side."""
    batch: int = 50
    """Steps of each world between two updates."""
    kl: float = 0.01
    """Largest KL divergence of an update."""
    discount: float = 0.99
    """Weight of the next step's reward."""
    gae: float = 0.97
    """Lambda of generalised advantage estimation."""
    hidden: int = 64
    """Units in each of the two tanh layers."""
    initial_std: float = 1.0
    """Standard deviation of the actions at first; wide exploration makes a robust expert."""
