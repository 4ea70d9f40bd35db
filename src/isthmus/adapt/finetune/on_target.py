"""Train the policy on where it is to be used, with the reward that is paid there.

This is what one would do without any of the other methods. It sees what they may not, the target's reward, and is
marked so: its sample cost is what theirs is to be compared with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.finetune.storage import KIND, finetuner_of, state_of, training_of
from isthmus.adapt.method import FitReport, Source
from isthmus.core import Episode, Float, History, PolicyState
from isthmus.core.random import stream_seed
from isthmus.core.trajectory import RewardedTrajectory
from isthmus.policies import AdaptedPolicy, Decision, TracedPolicy, Unadapted
from isthmus.policies.finetuner import Trained


@dataclass(frozen=True)
class Exploring(AdaptedPolicy):
    """A policy whose actions vary, so that better ones can be found."""

    policy: TracedPolicy
    std: Float
    """Standard deviation of each action (act,)."""
    rng: np.random.Generator

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """An action for n histories that is drawn about the policy's."""
        decision, state = self.policy.decide(history, state)
        noise = self.std * self.rng.standard_normal(decision.command.shape)
        return replace(decision, command=decision.command + noise), state


class RlOnTargetMethod:
    """Policy gradients from the target's own episodes: each round's data serves one update, and no more."""

    history = 1
    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source) -> None:
        """Start with the source's policy."""
        self._source = source
        self._policy, self._finetuner = finetuner_of(source, squashed=False)
        self._trained: Trained | None = None
        self._studied = 0

    def policy(self) -> FinetunedPolicy | Unadapted:
        """The policy's mean action."""
        source = self._source
        if not self._studied:
            return Unadapted(source.policy, source.simulator)
        return self._mean(self._begun())

    def explorer(self, rng: np.random.Generator) -> Exploring:
        """What to collect with."""
        trained = self._begun()
        return Exploring(self._mean(trained), trained.exploration_std, rng)

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Update the policy from what was not learned from before: older runs are another policy's."""
        runs = [one for episode in episodes[self._studied :] for one in episode if isinstance(one, RewardedTrajectory)]
        if not runs:
            raise ValueError("there is no new run whose reward was seen")
        self._trained = self._finetuner.study(
            self._begun(), runs, stream_seed(self._source.seed, "study", round_number)
        )
        self._studied = len(episodes)
        progress(1, -float(np.mean([one.rewards.sum() for one in runs])))
        return FitReport(epochs=1, best=1)

    def state(self) -> MethodState:
        """The training as plain data."""
        return state_of(self._trained, self._studied)

    def restore(self, state: MethodState) -> None:
        """Take over a training."""
        self._trained, self._studied = training_of(state)

    def _begun(self) -> Trained:
        """The training, with a critic from the source simulator at first: that takes no sample of the target."""
        if self._trained is None:
            self._trained = self._finetuner.begin(stream_seed(self._source.seed, "critic"))
        return self._trained

    def _mean(self, trained: Trained) -> FinetunedPolicy:
        source = self._source
        return FinetunedPolicy(source.policy, source.simulator, replace(self._policy, network=trained.network))
