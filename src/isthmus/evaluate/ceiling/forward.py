"""A forward model of a target that is known from logs alone.

It is the simulator with its physics put right, and a residual for what physics leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Episode, Float, stream
from isthmus.evaluate.ceiling.oracle import OpenTarget
from isthmus.identification import Physics, Transitions, identify, in_fewest_terms, set_apart
from isthmus.models.residual import Residual, Steps, fit_residual
from isthmus.tasks import Task
from isthmus.worlds import CorrectedWorld, MujocoWorld


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
    residual: Residual
    fitted: Fitted

    def world(self, n: int) -> CorrectedWorld:
        """The target as it seems to be, n times."""
        return self._corrected(self.model, n)

    def open_target(self) -> OpenTarget:
        """The same, laid open for the search."""
        return OpenTarget.of(self.task.embodiment, self.model, self._corrected)

    def _corrected(self, model: mujoco.MjModel, n: int = 1) -> CorrectedWorld:
        return CorrectedWorld(MujocoWorld(self.task.embodiment, n, models=model), self.residual)


def fit_forward(task: Task, episodes: Sequence[Episode], z: Float | None = None) -> Forward:
    """Fit physics first, unless it is known by its parameters z, then a residual to what physics leaves."""
    kept, apart = set_apart(episodes)
    physics, targets = Physics(task.embodiment), task.embodiment.spec.targets
    transitions = Transitions.of(kept)
    # Some observations tell masses: a robot with weak motors is not to be shown as a heavy one.
    values = in_fewest_terms(physics, physics.values(identify(physics, transitions, targets).z if z is None else z))
    simulator = physics.simulator(values)
    residual = fit_residual(Steps.of(kept, simulator), targets, stream(0, "residual"))
    spread = (transitions.after - transitions.before)[:, targets].std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def size(steps: Steps, expected: Float) -> float:
        return float(np.sqrt(np.square((steps.reached - expected)[:, targets] / spread).mean()))

    before, after = Steps.of(apart, task.unlimited()), Steps.of(apart, simulator)
    fitted = Fitted(
        sum(one.samples for episode in episodes for one in episode),
        len(episodes),
        size(before, before.expected),
        size(after, residual(after.observations, after.applied, after.expected)),
    )
    return Forward(task, physics.model(values), residual, fitted)
