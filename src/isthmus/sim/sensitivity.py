"""How a simulator's next observation changes with where it starts and with its action, by finite differences."""

from typing import Protocol, runtime_checkable

import numpy as np

from isthmus.core import Float, History, Simulator
from isthmus.core.metric import Metric

NUDGE = 1e-3
"""Size of a difference, in standard deviations of a target or half ranges of an actuator."""
CHUNK = 1024
"""Predictions made at once at most, so that a simulator sets up no more simulations than that."""


@runtime_checkable
class HasCoarse(Protocol):
    """Who may have a simulator of the same robot that is quicker and less exact."""

    @property
    def coarse(self) -> Simulator | None:
        """That one."""
        ...


@runtime_checkable
class Threaded(Protocol):
    """Who predicts on several threads, and can do so on one."""

    @property
    def serial(self) -> Simulator:
        """The same simulator on one thread."""
        ...


def for_robots(simulator: Simulator, n: int) -> Simulator:
    """The simulator in which to predict for n robots: a control step of one is too short for threads."""
    return simulator.serial if n == 1 and isinstance(simulator, Threaded) else simulator


def action_sensitivity(
    simulator: Simulator, observations: Float, actions: Float, metric: Metric, nudge: float = NUDGE
) -> tuple[Float, Float]:
    """The next observations (n, obs), and d targets / d actions (n, d, act), targets in standard deviations."""
    n, act = actions.shape
    simulator = for_robots(simulator, n)
    nudges = np.vstack((np.zeros(act), nudge * np.diag(simulator.spec.half_range)))
    tried = (actions[:, None] + nudges).reshape(-1, act)
    seen = predict_in_chunks(simulator, np.repeat(observations, act + 1, axis=0), tried).reshape(n, act + 1, -1)
    change = metric.scaled(seen[:, 1:] - seen[:, :1]) / nudge
    return seen[:, 0], change.transpose(0, 2, 1)


def quick_action_sensitivity(
    simulator: Simulator, observations: Float, actions: Float, metric: Metric
) -> tuple[Float, Float]:
    """The same, with differences in a coarse simulator where there is one: close enough for a step of Gauss-Newton."""
    simulator = for_robots(simulator, len(observations))
    coarse = _coarse(simulator)
    if coarse is None:
        return action_sensitivity(simulator, observations, actions, metric)
    _, change = action_sensitivity(coarse, observations, actions, metric)
    return predict_in_chunks(simulator, observations, actions), change


def quick_action_derivatives(simulator: Simulator, observations: Float, actions: Float, metric: Metric) -> Float:
    """Only the differences (n, d, act) of that, for who knows what comes next already."""
    simulator = for_robots(simulator, len(observations))
    _, change = action_sensitivity(_coarse(simulator) or simulator, observations, actions, metric)
    return change


def _coarse(simulator: Simulator) -> Simulator | None:
    return simulator.coarse if isinstance(simulator, HasCoarse) else None


def state_sensitivity(
    simulator: Simulator, observations: Float, actions: Float, metric: Metric, nudge: float = NUDGE
) -> Float:
    """How the next targets move with the targets now, both in standard deviations (n, d, d)."""
    n, d = len(observations), len(metric.targets)
    nudges = np.zeros((d + 1, observations.shape[1]))
    nudges[np.arange(1, d + 1), metric.targets] = nudge * metric.scale
    tried = (observations[:, None] + nudges).reshape(n * (d + 1), -1)
    seen = predict_in_chunks(simulator, tried, np.repeat(actions, d + 1, axis=0)).reshape(n, d + 1, -1)
    change = metric.scaled(seen[:, 1:] - seen[:, :1]) / nudge
    return change.transpose(0, 2, 1)


def predict_in_chunks(simulator: Simulator, observations: Float, actions: Float) -> Float:
    """The next observations (n, obs), however many."""
    total = len(observations)
    if total <= CHUNK:
        return simulator.predict(History.of(observations), actions)
    seen = np.empty_like(observations)
    for begin in range(0, total, CHUNK):
        rows = np.minimum(np.arange(begin, begin + CHUNK), total - 1)  # the last chunk is filled up: one size for all
        seen[rows] = simulator.predict(History.of(observations[rows]), actions[rows])
    return seen
