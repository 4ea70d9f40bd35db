"""Estimate the disturbances of running robots from what each step has come to."""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.response import Response
from isthmus.core import Float, History, Int, PolicyState
from isthmus.core.spec import ROUNDING

ROUND = 8
"""Of several robots, those that have taken a step are updated in multiples of this, the others not at all."""


@dataclass(frozen=True, slots=True)
class DisturbanceObserver:
    """A Bayes filter over the disturbances of n robots; its state is carried from step to step by the caller."""

    response: Response
    estimator: EffectiveActionEstimator

    @property
    def is_idle(self) -> bool:
        """Whether past steps do not help: no disturbance is correlated in time, or no step before is seen."""
        return not self.response.lookback or not self.response.disturbance.correlation.any()

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        if self.is_idle:
            return {}
        act = len(self.response.half_range)
        return {
            "belief": self.response.disturbance.start(n),
            "command": np.zeros((n, act)),
            "past": np.zeros((n, self.response.lookback * act)),
            "begun": np.zeros(n, np.bool_),
        }

    def belief(self, history: History, state: PolicyState) -> Float:
        """What is known (n, act, g) of the disturbances in the step to come.

        Robots that have taken a step since their episode began add it to what was known before it.
        """
        if self.is_idle:
            return self.response.disturbance.start(len(history.observations))
        belief: Float = state["belief"]
        begun = np.flatnonzero(state["begun"])
        if not len(begun):
            return belief
        rows = _filled_up(begun, len(belief))
        before, now, done = history.observations[rows, -2], history.current[rows], history.actions[rows, -1]
        commands, past = self._commands_given(state["command"][rows], done), state["past"][rows]
        belief = belief.copy()
        belief[rows] = self._updated(belief[rows], before, now, commands, past)
        return belief

    def next_state(self, history: History, belief: Float, commands: Float) -> PolicyState:
        """The state after commands (n, act), before any limit, that were given with this belief."""
        if self.is_idle:
            return {}
        past = history.actions.reshape(len(commands), -1)
        return {"belief": belief, "command": commands, "past": past, "begun": np.ones(len(commands), np.bool_)}

    def _updated(self, belief: Float, before: Float, now: Float, commands: Float, past: Float) -> Float:
        """The beliefs after another step."""
        response, disturbance = self.response, self.response.disturbance
        start = response.effect(commands, belief)  # close by already, so that one iteration is enough
        given = response.within(commands)
        found = self.estimator(before, now, given, iterations=1, start=start)
        updated, _ = disturbance.updated(belief, response.unexplained(before, commands, past, found))
        return disturbance.propagated(updated)

    def _commands_given(self, commands: Float, done: Float) -> Float:
        """The commands before any limit; where something else was applied (n, act), that."""
        off = np.abs(self.response.within(commands) - done)
        ours = np.asarray((off <= ROUNDING * self.response.half_range).all(axis=1), np.bool_)
        return np.where(ours[:, None], commands, done)


def _filled_up(rows: Int, most: int) -> Int:
    """Rows, the last one repeated up to a round number or `most`: a simulator is set up for each number there is."""
    lacking = min(-len(rows) % ROUND, most - len(rows))
    return np.concatenate((rows, np.repeat(rows[-1:], lacking)))
