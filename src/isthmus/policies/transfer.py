"""The paper's equation: what to do on the robot so that it sees what the simulator would have seen."""

from dataclasses import dataclass
from typing import Protocol

from isthmus.core import Float, History, InverseModel, Policy, Simulator, keep_overflow


@dataclass(frozen=True, slots=True)
class Decision:
    """One control step of the adapter, with its reasons."""

    source: Float
    """What the simulation policy would do (n, act of the source)."""
    wanted: Float
    """What the simulator expects to see next (n, obs)."""
    command: Float
    """What is asked of the robot (n, act)."""


class TracedPolicy(Policy, Protocol):
    """A policy for the target that also gives its reasons."""

    def decide(self, history: History) -> Decision:
        """The command for n histories, with what it is meant to reach."""
        ...


@dataclass(frozen=True, slots=True)
class TransferPolicy:
    """A policy for the target, from a policy and a simulator of the source and an inverse model of the target."""

    policy: Policy
    simulator: Simulator
    inverse: InverseModel
    correction: bool = False
    """Whether the inverse model gives a correction of the source's action instead of the action."""

    def decide(self, history: History) -> Decision:
        """The action for n histories, and what it is meant to reach."""
        a_src = self.policy(history)
        o_want = self.simulator.predict(history, a_src)
        phi = self.inverse(history, o_want)
        if not self.correction:
            return Decision(a_src, o_want, phi)
        spec = self.simulator.spec
        corrected = spec.clip(a_src) + phi
        return Decision(a_src, o_want, keep_overflow(a_src, corrected, spec.action_low, spec.action_high))

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for n histories."""
        return self.decide(history).command


@dataclass(frozen=True, slots=True)
class Unadapted:
    """The source's action as it is: what everybody does without adaptation."""

    policy: Policy
    simulator: Simulator

    def decide(self, history: History) -> Decision:
        """The source's action for n histories, and what the simulator expects of it."""
        a_src = self.policy(history)
        return Decision(a_src, self.simulator.predict(history, a_src), a_src)

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for n histories."""
        return self.policy(history)
