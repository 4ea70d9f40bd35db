"""A policy that was trained anew, run as it is."""

from dataclasses import dataclass

from isthmus.core import AnyPolicy, Float, History, PolicyState, PolicyWrapper, Simulator, act, initial_state
from isthmus.policies import Decision

SOURCE = "source "
"""Begins the names of the source's state: both policies may be networks of one kind."""


@dataclass(frozen=True, slots=True)
class FinetunedPolicy(PolicyWrapper):
    """Another policy than the source's, which is asked only to be compared with."""

    source: AnyPolicy
    simulator: Simulator
    policy: AnyPolicy

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        return {**initial_state(self.policy, n), **_named(initial_state(self.source, n))}

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The policy's action for n histories, beside the source's and what the simulator expects of that."""
        source = {name.removeprefix(SOURCE): array for name, array in state.items() if name.startswith(SOURCE)}
        a_src, source = act(self.source, history, source)
        actions, own = act(self.policy, history, state)
        return Decision(a_src, self.simulator.predict(history, a_src), actions), {**own, **_named(source)}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act) for n histories; the source is not asked."""
        actions, own = act(self.policy, history, state)
        return actions, {**state, **own}


def _named(source: PolicyState) -> PolicyState:
    return {f"{SOURCE}{name}": array for name, array in source.items()}
