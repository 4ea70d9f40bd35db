"""A policy in training, and what may be asked of whoever trains it on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.core import Correct, Float, Mlp
from isthmus.core.trajectory import RewardedTrajectory


@dataclass(frozen=True)
class Trained:
    """A policy in training."""

    network: Mlp
    """Its mean action."""
    exploration_std: Float
    """Standard deviation of its exploration (act,)."""
    arrays: Mapping[str, np.ndarray]
    """All that is needed to go on with the training."""


class Finetuner(Protocol):
    """Policy gradients, from the source's policy on, in a simulator and on the reward that is paid in simulation.

    The same seed gives the same training.
    """

    @property
    def spell_steps(self) -> int:
        """Steps of simulation in a call of `train`."""
        ...

    def corrected(self, correct: Correct) -> "Finetuner":
        """The same in the source simulator, corrected."""
        ...

    def begin(self, seed: int) -> Trained:
        """The source's policy, with a critic that has learned what it earns in the source simulator."""
        ...

    def train(self, trained: Trained, seed: int, progress: Callable[[int, float], None]) -> Trained:
        """Train on; `progress` hears of each batch and the return of late."""
        ...

    def worth(self, network: Mlp, seed: int) -> float:
        """The mean return of a network."""
        ...

    def study(self, trained: Trained, runs: Sequence[RewardedTrajectory], seed: int) -> Trained:
        """Train on from runs of the policy, exploration included, whose reward was seen."""
        ...
