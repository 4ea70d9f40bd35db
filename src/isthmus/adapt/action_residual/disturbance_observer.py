"""Follow the disturbances of running robots: what is believed of them before each step."""

import numpy as np

from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.response import Response
from isthmus.core import Bool, Float, History, Int

ROUND = 8
"""Of several robots, those that go on are followed in multiples of this, the others not at all."""


class DisturbanceObserver:
    """Beliefs of n robots, carried along from step to step of an episode."""

    def __init__(self, response: Response, estimator: EffectiveActionEstimator) -> None:
        """Start with no memory."""
        self._response, self._estimator = response, estimator
        self._begin(0, 0, 0, 0)

    def belief(self, history: History) -> Float:
        """What is known (n, act, g) of the disturbances in the step to come.

        Without history, or where nothing lasts, that is what was known before the first step. A history that goes on
        from the one before adds its last step to what was known then; any other is of a new episode.
        """
        disturbance, now = self._response.disturbance, history.current
        if history.length == 1 or not disturbance.correlation.any():
            return disturbance.start(len(now))
        before, done = history.observations[:, -2], history.actions[:, -1]
        if self._seen.shape != now.shape:
            self._begin(len(now), now.shape[1], done.shape[1], history.length - 1)
        again, follows = _equal(now, self._seen), _equal(before, self._seen)
        self._belief = np.where((again | follows)[:, None, None], self._belief, disturbance.start(len(now)))
        passed = ~again & ~_equal(before, now)  # before its first step a history repeats itself
        if passed.any():
            rows = _filled_up(np.flatnonzero(passed), len(now))
            commands, past = self._commands_given(done, follows), self._past * follows[:, None]
            self._belief[rows] = self._updated(self._belief[rows], before[rows], now[rows], commands[rows], past[rows])
        return self._belief

    def remember(self, history: History, commands: Float) -> None:
        """What was seen last, and the commands (n, act) given then, before any limit."""
        self._seen, self._commands = history.current.copy(), commands
        self._past = history.actions.reshape(len(commands), -1).copy()

    def _begin(self, n: int, observation: int, act: int, steps: int) -> None:
        self._seen: Float = np.full((n, observation), np.nan)
        self._commands: Float = np.zeros((n, act))
        self._past: Float = np.zeros((n, steps * act))
        self._belief: Float = self._response.disturbance.start(n)

    def _updated(self, belief: Float, before: Float, now: Float, commands: Float, past: Float) -> Float:
        """The beliefs after another step."""
        response, disturbance = self._response, self._response.disturbance
        start = response.effect(commands, belief)  # close by already, so that one iteration is enough
        given = response.within(commands)
        found = self._estimator(before, now, given, iterations=1, start=start)
        updated, _ = disturbance.updated(belief, response.unexplained(before, commands, past, found))
        return disturbance.propagated(updated)

    def _commands_given(self, done: Float, follows: Bool) -> Float:
        """The commands before any limit, as far as it was us who gave them."""
        ours = follows & _equal(self._response.within(self._commands), done)
        return np.where(ours[:, None], self._commands, done)


def _filled_up(rows: Int, most: int) -> Int:
    """Rows, the last one repeated up to a round number or `most`: a simulator is set up for each number there is."""
    lacking = min(-len(rows) % ROUND, most - len(rows))
    return np.concatenate((rows, np.repeat(rows[-1:], lacking)))


def _equal(some: Float, others: Float) -> Bool:
    return np.asarray((some == others).all(axis=1), dtype=np.bool_)
