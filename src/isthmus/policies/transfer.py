"""The paper's equation: what to do on the robot so that it sees what the simulator would have seen."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

from isthmus.core import (
    AnyPolicy,
    Float,
    History,
    InverseModel,
    PolicyState,
    PolicyWrapper,
    Simulator,
    StatefulPolicy,
    act,
    keep_overflow,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """One control step of the adapter, with its reasons."""

    source: Float
    """What the simulation policy would do (n, act of the source)."""
    wanted: Float
    """What the simulator expects to see next (n, obs)."""
    command: Float
    """What is asked of the robot (n, act)."""


class TracedPolicy(StatefulPolicy, Protocol):
    """A policy for the target that also gives its reasons."""

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, with what it is meant to reach, and the state for the next step."""
        ...


class AdaptedPolicy(PolicyWrapper, ABC):
    """A policy for the target that asks the policy of the source."""

    __slots__ = ()

    @abstractmethod
    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, with what it is meant to reach, and the state for the next step."""

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        decision, state = self.decide(history, state)
        return decision.command, state


@dataclass(frozen=True, slots=True)
class TransferPolicy(AdaptedPolicy):
    """A policy for the target, from a policy and a simulator of the source and an inverse model of the target."""

    policy: AnyPolicy
    simulator: Simulator
    inverse: InverseModel
    correction: bool = False
    """Whether the inverse model gives a correction of the source's action instead of the action."""

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The action for n histories, and what it is meant to reach."""
        a_src, state = act(self.policy, history, state)
        o_want = self.simulator.predict(history, a_src)
        phi = self.inverse(history, o_want)
        if not self.correction:
            return Decision(a_src, o_want, phi), state
        spec = self.simulator.spec
        corrected = spec.clip(a_src) + phi
        return Decision(a_src, o_want, keep_overflow(a_src, corrected, spec.action_low, spec.action_high)), state


@dataclass(frozen=True, slots=True)
class Unadapted(AdaptedPolicy):
    """The source's action as it is: what everybody does without adaptation."""

    policy: AnyPolicy
    simulator: Simulator

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The source's action for n histories, and what the simulator expects of it."""
        a_src, state = act(self.policy, history, state)
        return Decision(a_src, self.simulator.predict(history, a_src), a_src), state

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """The source's action (n, act) for n histories."""
        return act(self.policy, history, state)


@dataclass(frozen=True)
class DecisionLog(PolicyWrapper):
    """A policy whose decisions are kept, for traces and for learning."""

    policy: TracedPolicy
    decisions: list[Decision] = field(default_factory=list[Decision])
    """One for every step so far."""

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        decision, state = self.policy.decide(history, state)
        self.decisions.append(decision)
        return decision.command, state
