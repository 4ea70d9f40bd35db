"""Actions are numbers, or the run ends in one sentence."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, PolicyWrapper, Problem, act


def finite(actions: Float, observations: Float) -> Float:
    """The actions (n, act) that a policy gave for observations (n, obs), if they are finite numbers."""
    if np.isfinite(actions).all():
        return actions
    row = int(np.flatnonzero(~np.isfinite(actions).all(axis=1))[0])
    given = ", ".join(f"{number:.3g}" for number in actions[row][:6])
    largest = float(np.abs(observations[row]).max(initial=0.0))
    more = ", ..." if actions.shape[1] > 6 else ""
    raise Problem(
        f"the policy gave the action ({given}{more}) for an observation whose largest number is {largest:.3g}: actions "
        "must be finite, so its weights or its normaliser are damaged, or not its own"
    )


@dataclass(frozen=True)
class FinitePolicy(PolicyWrapper):
    """A policy from elsewhere, as from a robot's own file."""

    policy: AnyPolicy

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Its actions (n, act), if they are finite, and the state for the next step."""
        actions, state = act(self.policy, history, state)
        return finite(actions, history.current), state
