"""Look ahead along a reference: a robot under position control needs neither its actions nor a simulator.

    a_src[k] = the recorded positions at p + k        o_want[k] = reference[p + k]        p the nearest phase

`preview` changes these commands by its model of how the robot answers, which it learns from target steps alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.reference import FOUND_NOWHERE, Phases
from isthmus.adapt.method import FitReport, Source
from isthmus.adapt.preview.method import HORIZON, PreviewMethod, PreviewPolicy
from isthmus.adapt.reference.follow import FollowingPolicy
from isthmus.adapt.reference.policy import PHASE, first_guess
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Episode, Float, History, PolicyState, Problem, WorldSpec
from isthmus.policies import TracedPolicy


@dataclass(frozen=True)
class RecordedCourse:
    """The next recorded observations, and commands to their positions."""

    phases: Phases
    spec: WorldSpec

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        return {PHASE: np.full(n, FOUND_NOWHERE, np.int64)}

    def ahead(self, history: History, state: PolicyState) -> tuple[Float, Float, PolicyState]:
        """Commands (n, h, act) and recorded observations (n, h, obs) of the next h steps, and the state after one."""
        phase = self.phases.find(history.current, state[PHASE])
        after, seen, actions = phase, list[Float](), list[Float]()
        for _ in range(HORIZON):
            seen.append(self.phases.next_recorded(after))
            actions.append(first_guess(self.spec, seen[-1]))
            after = self.phases.successor[after]
        return np.stack(actions, axis=1), np.stack(seen, axis=1), {PHASE: phase}


class ReferencePreviewMethod:
    """`preview` along a reference, for robots under position control."""

    kind = PreviewMethod.kind
    needs_target_data = True
    is_interrupted = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start without a model."""
        if source.reference is None:
            raise Problem("a source without actions needs a reference: give recorded observations")
        self._phases, self._spec = Phases(source.reference, source.spec), source.spec
        self._preview = PreviewMethod(source, settings, RecordedCourse(self._phases, source.spec))

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._preview.history

    def policy(self) -> TracedPolicy:
        """The policy that looks ahead; before there is a model, commands to the next recorded positions."""
        policy = self._preview.policy()
        return policy if isinstance(policy, PreviewPolicy) else FollowingPolicy(self._phases, self._spec)

    def exploring(self, rng: np.random.Generator) -> TracedPolicy:  # noqa: ARG002
        """What to collect with: the policy, since random actions interrupt it."""
        return self.policy()

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Fit how the robot answers to everything so far."""
        return self._preview.learn(episodes, round_number, progress)

    def state(self) -> MethodState:
        """The model as plain data."""
        return self._preview.state()

    def restore(self, state: MethodState) -> None:
        """Take over a model."""
        self._preview.restore(state)
