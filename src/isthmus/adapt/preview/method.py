"""Look a few steps ahead: command what brings the robot along the simulator's trajectory, not just to its next state.

    a_src, o_want   from the simulator, for each of the next h steps
    a               the first of the actions that minimise |q - q_want|^2 + r |a - a_src|^2 over those steps

A robot that lags answers a command more in the second step than in the first. To reach the next state exactly, each
command has to undo what the one before will still do, and they grow from step to step. With some steps in view they
need not. What the model foresees wrongly is carried along: it errs in the next step much as in the last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import FitReport, Joints, Source
from isthmus.adapt.preview.arx import KIND, ArxModel, ArxRun, fit_arx
from isthmus.adapt.settings import MethodSettings
from isthmus.core import (
    AnyPolicy,
    Episode,
    Float,
    History,
    Int,
    PolicyState,
    Problem,
    Simulator,
    Trajectory,
    act,
    initial_state,
    keep_overflow,
)
from isthmus.core.linear import solve
from isthmus.core.past_actions import past_actions
from isthmus.policies import AdaptedPolicy, Decision, Unadapted

HORIZON = 4
"""Steps that are looked ahead."""
PRICE = 0.1
"""Of a changed command, beside what it brings, on average over the commands of the horizon."""
FOLLOW = 0.1
"""Share of the latest error that goes into the one that is expected."""
LEAST_HISTORY = 3


class Course(Protocol):
    """Where the source goes from here on."""

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        ...

    def ahead(self, history: History, state: PolicyState) -> tuple[Float, Float, PolicyState]:
        """What the source does (n, h, act) and sees (n, h, obs) in the next h steps, and its state after one step."""
        ...


@dataclass(frozen=True)
class SimulatedCourse:
    """Runs the policy of the source in its simulator."""

    policy: AnyPolicy
    simulator: Simulator

    def initial_state(self, n: int) -> PolicyState:
        """The state of the policy for n robots that begin an episode."""
        return initial_state(self.policy, n)

    def ahead(self, history: History, state: PolicyState) -> tuple[Float, Float, PolicyState]:
        """What the source does (n, h, act) and sees (n, h, obs) in the next h steps, and its state after one step."""
        actions, seen, states = list[Float](), list[Float](), list[PolicyState]()
        for _ in range(HORIZON):
            action, state = act(self.policy, history, state)
            actions.append(action)
            states.append(state)
            seen.append(self.simulator.predict(history, action))
            history = History.of(seen[-1])
        return np.stack(actions, axis=1), np.stack(seen, axis=1), states[0]


class PreviewPolicy(AdaptedPolicy):
    """The source's policy, its commands changed so that the robot keeps to the source's trajectory."""

    def __init__(self, source: Source, arx: ArxModel, course: Course | None = None) -> None:
        """Look ahead with `arx` along `course`; along the simulator's trajectory when none is given."""
        self.policy: AnyPolicy = source.pi_src
        self._course = course or SimulatedCourse(source.pi_src, source.simulator)
        self._arx, self._spec = arx, source.spec
        self._joints = source.joints if source.spec.commands == "position" else None
        self._sensed = source.spec.robot_dimensions
        self._targets = np.searchsorted(self._sensed, source.spec.targets)
        change = arx.sensitivity(HORIZON)[:, self._targets]  # (h, targets, h, act)
        rows = change.reshape(HORIZON * len(self._targets), -1)
        normal = rows.T @ rows
        priced = normal + PRICE * np.trace(normal) / len(normal) * np.eye(len(normal))
        self._first: Float = solve(priced, rows.T)[: arx.actions]

    @property
    def simulates(self) -> bool:
        """Whether a step runs the source's simulator."""
        return isinstance(self._course, SimulatedCourse)

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode: no step, no error of the model, and the source's state."""
        own = {
            "steps": np.zeros(n, np.int64),
            "past": np.zeros((n, self._arx.past * self._arx.actions)),
            "error": np.zeros((n, len(self._sensed))),
        }
        return {**self._course.initial_state(n), **own}

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, and what it is meant to reach."""
        now, steps = history.current[:, self._sensed], state["steps"]
        past = led_past(history, self._arx.past, steps, self._joints)
        error = self._expected_error(history, now, state)
        source, wanted, after = self._course.ahead(history, state)
        spec = self._spec
        within = spec.clip(source)
        free = self._arx.rollout(now, within, past, error)[:, :, self._targets]
        missing = wanted[:, :, spec.targets] - free
        corrected = within[:, 0] + missing.reshape(len(now), -1) @ self._first.T
        command = keep_overflow(source[:, 0], corrected, spec.action_low, spec.action_high)
        own = {"steps": steps + 1, "past": past, "error": error}
        return Decision(source[:, 0], wanted[:, 0], command), {**after, **own}

    def _expected_error(self, history: History, now: Float, state: PolicyState) -> Float:
        """The error that is expected of the model in the next step (n, s): none in the first of an episode."""
        if history.length == 1:
            return np.zeros_like(now)
        # With the action as it was applied: a guard may have changed the command.
        before = history.observations[:, -2][:, self._sensed]
        latest = now - self._arx(before, history.actions[:, -1], state["past"])
        return np.where((state["steps"] > 0)[:, None], (1 - FOLLOW) * state["error"] + FOLLOW * latest, 0.0)


class PreviewMethod:
    """A linear answer, looked ahead with."""

    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings, course: Course | None = None) -> None:
        """Start without a model; the source's trajectory comes from `course`, or from its simulator."""
        if source.spec.commands == "position" and source.joints is None:
            raise Problem("looking ahead needs actuators that each drive one joint, and this robot has others")
        self._source, self._history = source, max(settings.history, LEAST_HISTORY)
        self._course = course
        self._arx: ArxModel | None = None

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._history

    def policy(self) -> PreviewPolicy | Unadapted:
        """The adapted policy, once there is a model."""
        if self._arx is None:
            return Unadapted(self._source.pi_src, self._source.simulator)
        return PreviewPolicy(self._source, self._arx, self._course)

    def learn(
        self,
        episodes: Sequence[Episode],
        round_number: int,  # noqa: ARG002
        progress: Callable[[int, float], None],  # noqa: ARG002
    ) -> FitReport:
        """Fit the answer to everything so far."""
        runs = [self._run(one) for episode in episodes for one in episode]
        self._arx = fit_arx(runs, self._history - 1)
        return FitReport(0, 0)

    def state(self) -> MethodState:
        """The model as plain data."""
        if self._arx is None:
            raise ValueError("there is no model yet")
        return self._arx.state()

    def restore(self, state: MethodState) -> None:
        """Take over a model."""
        self._arx = ArxModel.of_state(state)

    def _run(self, one: Trajectory) -> ArxRun:
        spec = self._source.spec
        joints = self._source.joints if spec.commands == "position" else None
        before = joints(one.observations[:1])[0][0] if joints else 0.0
        past = past_actions(one.applied, self._history - 1, before)
        sensed = one.observations[:, spec.robot_dimensions]
        return ArxRun(sensed[one.context :], one.applied[one.context :], past[one.context :])


def led_past(history: History, past: int, steps: Int, joints: Joints | None) -> Float:
    """The latest `past` actions (n, past * act) of robots that have taken so many steps (n,), oldest first.

    Before its first step, a robot that is sent to positions was held where it is.
    """
    window = history.last(past + 1)
    actions = window.actions
    if joints is not None:
        before = np.arange(past) < past - steps[:, None]  # (n, past)
        if before.any():
            actions = np.where(before[:, :, None], joints(window.observations[:, 0])[0][:, None], actions)
    return actions.reshape(len(actions), -1)
