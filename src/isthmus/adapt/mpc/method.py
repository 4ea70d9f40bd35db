"""Model predictive control as a method: nothing is trained, it adapts while it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.adapt.method import Source, SourceCost, UntrainedMethod
from isthmus.adapt.mpc.affine import Affine, Transition, Units
from isthmus.adapt.mpc.horizon import Horizon, outlook
from isthmus.adapt.mpc.ilqr import improve, rollout
from isthmus.core import (
    AnyPolicy,
    Float,
    History,
    PolicyState,
    PolicyWrapper,
    Problem,
    Simulator,
    act,
    initial_state,
)
from isthmus.policies import Decision

STEPS = 15
"""The horizon."""


class Adaptation(Protocol):
    """What the last steps tell about the dynamics."""

    def initial_state(self, n: int, units: Units) -> PolicyState:
        """What is known of n robots that begin an episode."""
        ...

    def __call__(self, prior: Affine, last: Transition, state: PolicyState) -> tuple[Affine, PolicyState]:
        """The simulator's dynamics `prior`, corrected by the last step, and the state for the next step."""
        ...


@dataclass(frozen=True)
class PlanningPolicy(PolicyWrapper):
    """Model predictive control of n robots, each from its plan of the step before."""

    policy: AnyPolicy
    """Is asked for the reasons of a decision only, and its state is carried on by `decide` alone."""
    simulator: Simulator
    cost: SourceCost
    units: Units
    adaptation: Adaptation
    steps: int = STEPS

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode: no step, no plan, and what the adaptation starts with."""
        own = {"steps": np.zeros(n, np.int64), "controls": np.zeros((n, self.steps, self.units.spec.action_size))}
        return {**initial_state(self.policy, n), **self.adaptation.initial_state(n, self.units), **own}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        command, _, state = self._plan(history, state)
        return command, state

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, and where the plan expects it to lead."""
        a_src, source = act(self.policy, history, state)
        command, expected, after = self._plan(history, state)
        return Decision(a_src, expected, command), {**after, **source}

    def _plan(self, history: History, state: PolicyState) -> tuple[Float, Float, PolicyState]:
        """Commands (n, act), the observations (n, obs) that they should lead to, and the state for the next step."""
        units, now = self.units, history.current
        last = self._transition(history, state)
        # The last plan, a step later; nothing where there is none.
        plan_before = state["controls"]
        moved = np.concatenate((plan_before[:, 1:], plan_before[:, -1:]), axis=1)
        controls = np.where(last.there[:, None, None], moved, 0.0)
        ahead = outlook(self.cost, units, now, controls[:, 0])
        dynamics, adapted = self.adaptation(ahead.dynamics, last, state)
        problem = Horizon(dynamics, ahead, self.cost, units)
        limit = np.ones(units.spec.action_size)
        plan = improve(problem, rollout(problem, units.state(now), controls), -limit, limit)
        command, expected = units.action(plan.controls[:, 0]), units.observation(plan.states[:, 1], now)
        return command, expected, {**state, **adapted, "steps": state["steps"] + 1, "controls": plan.controls}

    def _transition(self, history: History, state: PolicyState) -> Transition:
        """The last step; there is none before the first of an episode, or in a window of one observation."""
        units, now, before = self.units, history.current, history.current
        actions, steps = np.zeros((len(now), units.spec.action_size)), np.zeros(len(now), np.int64)
        if history.length > 1:
            before, actions, steps = history.observations[:, -2], history.actions[:, -1], state["steps"]
        expected = self.simulator.predict(History.of(before), actions)
        return Transition(
            before=units.state(before),
            control=units.control(actions),
            after=units.state(now),
            expected=units.state(expected),
            there=steps > 0,
            first=steps == 1,
        )


class PlanningMethod(UntrainedMethod):
    """Plans with the simulator and the task's own cost; the source's policy is not asked."""

    history = 2

    def __init__(self, source: Source, adaptation: Callable[[], Adaptation]) -> None:
        """Plan for `source`, each policy with an adaptation of its own."""
        if source.cost is None:
            raise Problem("this task does not say what its simulation costs, and a plan is made for a cost")
        self._source, self._cost, self._adaptation = source, source.cost, adaptation
        self._units = Units(source.spec, source.step_scale)

    def policy(self) -> PlanningPolicy:
        """A planner without a past."""
        return PlanningPolicy(
            self._source.policy, self._source.simulator, self._cost, self._units, adaptation=self._adaptation()
        )
