"""A policy that is shown what its observation spec says, and whose actions mean what it says."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, act, initial_state
from isthmus.policies.observation.body import Body
from isthmus.policies.observation.read import edited
from isthmus.policies.observation.shown import Shown
from isthmus.policies.observation.spec import ObservationSpec

STEPS, FRAMES, ACTIONS = "spec steps", "spec frames", "spec actions"
"""Names of the state's arrays: steps since the episode began, frames before this one, the last actions."""


@dataclass(frozen=True)
class SpecPolicy:
    """Remembers the frames of its stack, its last actions and what its network remembers."""

    spec: ObservationSpec
    body: Body
    policy: AnyPolicy
    """The network. Its observation is what it is shown, and its action what it gives."""

    @cached_property
    def shown(self) -> Shown:
        """The spec for this robot."""
        return Shown.of(self.spec, self.body)

    def edited(self, *edits: str) -> "SpecPolicy":
        """The same network under the spec with edits applied to it."""
        return replace(self, spec=edited(self.spec, *edits))

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        shown = self.shown
        state: dict[str, np.ndarray] = {STEPS: np.zeros(n, np.int64)}
        if self.spec.stack.frames > 1:
            state[FRAMES] = np.zeros((n, self.spec.stack.frames - 1, shown.frame_size))
        if shown.lags:
            state[ACTIONS] = np.zeros((n, shown.lags, self.body.spec.action_size))
        return {**state, **initial_state(self.policy, n)}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        shown, steps, seen = self.shown, state[STEPS], history.current
        actions = state.get(ACTIONS, np.empty((len(seen), 0, self.body.spec.action_size)))
        frame = shown.frame(seen, actions, steps * self.body.spec.control_period)
        after: dict[str, np.ndarray] = {STEPS: steps + 1}
        inputs = frame
        if FRAMES in state:
            past = state[FRAMES]
            if self.spec.stack.fill == "first":
                past = np.where((steps == 0)[:, None, None], frame[:, None], past)
            frames = np.concatenate([past, frame[:, None]], axis=1)  # (n, k, frame), oldest first
            after[FRAMES], inputs = frames[:, 1:], shown.stacked(frames)
        outputs, inner = act(self.policy, History.of(inputs), state)
        given = shown.commands.clipped(outputs)
        if shown.lags:
            after[ACTIONS] = np.concatenate([given[:, None], actions[:, :-1]], axis=1)
        return shown.commands(given), {**after, **inner}
