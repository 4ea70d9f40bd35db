"""A forward model of a target that is known from logs alone.

It is the simulator with its physics put right, and a linear residual for what physics leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Episode, Float, Int
from isthmus.evaluate.ceiling.fitted import FittedWorld
from isthmus.evaluate.ceiling.oracle import OpenTarget
from isthmus.identification import Physics, Transitions, identify, set_apart
from isthmus.models.linear_residual import LinearResidual, fit_linear_residual
from isthmus.tasks import Task


@dataclass(frozen=True)
class Fitted:
    """How well the logs are predicted."""

    samples: int
    episodes: int
    simulator_error: float
    model_error: float
    """What is off in a step of an episode that was not fitted to, in spreads of a step (root mean square), in the
    simulator as it was and in the fitted model."""


@dataclass(frozen=True)
class Forward:
    """The fitted model."""

    task: Task
    model: mujoco.MjModel
    residual: LinearResidual
    targets: Int
    fitted: Fitted

    def world(self, n: int) -> FittedWorld:
        """The target as it seems to be, n times."""
        return FittedWorld(self.task.embodiment, self.model, self.residual, self.targets, n)

    def open_target(self) -> OpenTarget:
        """The same, laid open for the search."""
        return OpenTarget.of(
            self.task.embodiment,
            self.model,
            lambda model: FittedWorld(self.task.embodiment, model, self.residual, self.targets),
        )


def fit_forward(task: Task, episodes: Sequence[Episode]) -> Forward:
    """Fit physics first, then a residual to what physics leaves."""
    kept, apart = set_apart(episodes)
    physics, targets = Physics(task.embodiment), task.embodiment.spec.targets
    steps, checked = Transitions.of(kept), Transitions.of(apart)
    own, values = physics.values(np.zeros(physics.size)), physics.values(identify(physics, steps, targets).z)

    def errors(values: list[Float], of: Transitions) -> Float:
        return (of.after - physics.predict(values, of.before, of.actions))[:, targets]

    origin = np.repeat(np.arange(len(kept)), [sum(one.samples for one in episode) for episode in kept])
    residual = fit_linear_residual(_inputs(steps, targets), errors(values, steps), origin)
    spread = (steps.after - steps.before)[:, targets].std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    fitted = Fitted(
        sum(one.samples for episode in episodes for one in episode),
        len(episodes),
        _size(errors(own, checked) / spread),
        _size((errors(values, checked) - residual(_inputs(checked, targets))) / spread),
    )
    return Forward(task, physics.model(values), residual, targets, fitted)


def _inputs(steps: Transitions, targets: Int) -> Float:
    """What the residual looks at (n, k)."""
    return np.hstack((steps.before[:, targets], steps.actions))


def _size(errors: Float) -> float:
    return float(np.sqrt(np.square(errors).mean()))
