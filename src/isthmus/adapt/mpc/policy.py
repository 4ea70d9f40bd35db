"""Plan a few steps ahead with the adapted simulator, do the first of them, and plan again."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.adapt.method import SourceCost
from isthmus.adapt.mpc.affine import Affine, Transition, Units
from isthmus.adapt.mpc.horizon import Horizon
from isthmus.adapt.mpc.ilqr import improve
from isthmus.adapt.mpc.ilqr.solver import rollout
from isthmus.adapt.mpc.linearisation import outlook
from isthmus.core import Bool, Float, History, Policy, Simulator
from isthmus.policies import Decision

STEPS = 15
"""The horizon."""


class Adaptation(Protocol):
    """What the last steps tell about the dynamics."""

    def __call__(self, prior: Affine, last: Transition) -> Affine:
        """The simulator's dynamics, put right."""
        ...


@dataclass
class PlanningPolicy:
    """Model predictive control of n robots; it remembers each one's plan until a new episode begins."""

    policy: Policy
    simulator: Simulator
    cost: SourceCost
    units: Units
    adaptation: Adaptation
    steps: int = STEPS

    def __post_init__(self) -> None:
        """Start without a past."""
        self._seen: Float = np.empty((0, 0))
        self._stepped: Bool = np.empty(0, np.bool_)
        self._controls: Float = np.empty((0, 0, 0))

    def __call__(self, history: History) -> Float:
        """Commands (n, act) for n histories."""
        return self._plan(history)[0]

    def decide(self, history: History) -> Decision:
        """The command for n histories, and where the plan expects it to lead."""
        command, expected = self._plan(history)
        return Decision(self.policy(history), expected, command)

    def _plan(self, history: History) -> tuple[Float, Float]:
        """Commands (n, act), and the observations (n, obs) that they should lead to."""
        units, now = self.units, history.current
        last = self._transition(history)
        controls = self._warm_start(last, len(now))
        ahead = outlook(self.cost, units, now, controls[:, 0])
        problem = Horizon(self.adaptation(ahead.dynamics, last), ahead, self.cost, units)
        limit = np.ones(units.spec.action_size)
        plan = improve(problem, rollout(problem, units.state(now), controls), -limit, limit)
        self._seen, self._stepped, self._controls = now.copy(), last.there, plan.controls
        return units.action(plan.controls[:, 0]), units.observation(plan.states[:, 1], now)

    def _transition(self, history: History) -> Transition:
        """The last step. Before its first step a history repeats itself; who was elsewhere before is new."""
        units, now, before = self.units, history.current, history.current
        actions = np.zeros((len(now), units.spec.action_size))
        if history.length > 1:
            before, actions = history.observations[:, -2], history.actions[:, -1]
        expected = self.simulator.predict(History.of(before), actions)
        there = (now != before).any(axis=1)
        same = self._seen.shape == before.shape
        goes_on = (self._seen == before).all(axis=1) & self._stepped if same else np.zeros(len(now), np.bool_)
        return Transition(
            before=units.state(before),
            control=units.control(actions),
            after=units.state(now),
            expected=units.state(expected),
            there=there,
            first=there & ~goes_on,
        )

    def _warm_start(self, last: Transition, n: int) -> Float:
        """The last plan, moved on by a step; nothing where there is none."""
        shape = (n, self.steps, self.units.spec.action_size)
        if self._controls.shape != shape:
            return np.zeros(shape)
        moved = np.concatenate((self._controls[:, 1:], self._controls[:, -1:]), axis=1)
        return np.where(last.there[:, None, None], moved, 0.0)
