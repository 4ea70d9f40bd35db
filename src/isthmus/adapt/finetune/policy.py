"""A policy that was trained anew, run as it is."""

from dataclasses import dataclass

from isthmus.core import Float, History, Policy, Simulator
from isthmus.policies import Decision


@dataclass(frozen=True, slots=True)
class FinetunedPolicy:
    """Another policy than the source's, which is asked only to be compared with."""

    source: Policy
    simulator: Simulator
    policy: Policy

    def decide(self, history: History) -> Decision:
        """The policy's action for n histories, beside the source's and what the simulator expects of that."""
        a_src = self.source(history)
        return Decision(a_src, self.simulator.predict(history, a_src), self.policy(history))

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for n histories."""
        return self.policy(history)
