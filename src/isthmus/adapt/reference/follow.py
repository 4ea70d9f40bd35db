"""Policies that follow a reference by what was learned on the target alone, and that explore about them."""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.reference import FOUND_NOWHERE, Phases
from isthmus.adapt.inverse_network.network import InverseNetwork
from isthmus.adapt.reference.policy import PHASE, first_guess
from isthmus.core import Float, History, Mlp, PolicyState, WorldSpec
from isthmus.policies import Decision, TracedPolicy

BABBLE = "babble"
CHANGE = 0.3
"""Probability that a babbled command changes in a step: one that is held moves a robot further."""
NOISE = 0.2
"""Standard deviation of what is added to commands once there is a model, in half ranges of the actuators."""


@dataclass(frozen=True)
class FollowingPolicy:
    """Wants the next recorded observation, and commands what the models know of it."""

    phases: Phases
    spec: WorldSpec
    inverse: InverseNetwork | None = None
    clone: Mlp | None = None
    """A policy of its own, learned from the reference with the actions that `inverse` has found for it."""

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        return {PHASE: np.full(n, FOUND_NOWHERE, np.int64)}

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, with the observation that it is meant to reach."""
        phase = self.phases.find(history.current, state[PHASE])
        wanted = self.phases.wanted(history.current, phase)
        command = self._command(history, wanted)
        return Decision(command, wanted, command), {PHASE: phase}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        decision, state = self.decide(history, state)
        return decision.command, state

    def _command(self, history: History, wanted: Float) -> Float:
        if self.clone is not None:
            return self.clone(history.current)
        if self.inverse is not None:
            return self.inverse(history, wanted)
        return first_guess(self.spec, wanted)


@dataclass(frozen=True)
class Exploring:
    """A policy whose commands are replaced by babble, or disturbed by noise."""

    policy: TracedPolicy
    spec: WorldSpec
    rng: np.random.Generator
    babbles: bool

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        return {**self.policy.initial_state(n), BABBLE: np.full((n, self.spec.action_size), np.nan)}

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, with the observation that the policy meant to reach."""
        decision, inner = self.policy.decide(history, {name: one for name, one in state.items() if name != BABBLE})
        size = decision.command.shape
        if self.babbles:
            changes = np.isnan(state[BABBLE]) | (self.rng.random((size[0], 1)) < CHANGE)
            babble = np.where(changes, self.rng.uniform(-1, 1, size), state[BABBLE])
            command = self.spec.middle + self.spec.half_range * babble
        else:
            babble = state[BABBLE]
            noise = NOISE * self.spec.half_range * self.rng.standard_normal(size)
            command = self.spec.clip(decision.command) + noise
        return Decision(decision.source, decision.wanted, command), {**inner, BABBLE: babble}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        decision, state = self.decide(history, state)
        return decision.command, state
