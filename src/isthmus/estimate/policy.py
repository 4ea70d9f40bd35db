"""A policy behind a filter, as one policy: it is shown what the sensors show, and remembers what both remember."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, PolicyWrapper, WorldSpec, act, initial_state
from isthmus.estimate.filter import Filter

SENSED = 2
"""Observations that it looks at: what is sensed now, and before the last action."""
OWN = "estimator "
"""What the names in the state begin with that are the filter's, and the next ones."""
GOES_ON, SEEN, GIVEN = "estimator goes on", "estimator window", "estimator actions"
"""Whether an episode goes on (n,), the latest estimates (n, k, obs) and the actions between them (n, k - 1, act)."""


@dataclass(frozen=True, slots=True)
class EstimatedPolicy(PolicyWrapper):
    """Acts as its `policy` does on the last `history` estimates."""

    policy: AnyPolicy
    filter: Filter
    history: int
    spec: WorldSpec

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        return {
            **initial_state(self.policy, n),
            **self.filter.initial_state(n),
            GOES_ON: np.zeros(n, np.bool_),
            SEEN: np.zeros((n, self.history, self.spec.observation_size)),
            GIVEN: np.zeros((n, self.history - 1, self.spec.action_size)),
        }

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories of what the sensors show, and the state for the next step."""
        own = {name: array for name, array in state.items() if name.startswith(OWN)}
        inner = {name: array for name, array in state.items() if not name.startswith(OWN)}
        applied = history.actions[:, -1]
        estimate, filtered = self.filter.update(own, history.current, applied)
        goes_on = np.asarray(own[GOES_ON])[:, None, None]
        before, given = np.asarray(own[SEEN]), np.asarray(own[GIVEN])
        seen = np.where(goes_on, np.concatenate((before[:, 1:], estimate[:, None]), axis=1), estimate[:, None])
        given = np.where(goes_on, np.concatenate((given, applied[:, None]), axis=1)[:, 1:], given)
        commands, inner = act(self.policy, History(seen, given), inner)
        return commands, {
            **inner,
            **filtered,
            GOES_ON: np.ones(len(estimate), np.bool_),
            SEEN: seen,
            GIVEN: given,
        }
