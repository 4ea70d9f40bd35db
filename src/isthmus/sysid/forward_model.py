"""A forward model of a target that is known from logs alone.

It is the simulator with its physics put right, and a residual for what physics leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Episode, Float, stream
from isthmus.sim import CorrectedWorld, Embodiment, MujocoWorld
from isthmus.sim.unclamped import unlimited_world
from isthmus.sysid.estimate import in_fewest_terms
from isthmus.sysid.fit import identify
from isthmus.sysid.open_target import OpenTarget
from isthmus.sysid.physics import Physics
from isthmus.sysid.residual import Residual, Steps, fit_residual
from isthmus.sysid.transitions import Transitions, set_apart


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

    embodiment: Embodiment
    model: mujoco.MjModel
    residual: Residual
    fitted: Fitted

    def world(self, n: int) -> CorrectedWorld:
        """The target as it seems to be, n times."""
        return self._corrected(self.model, n)

    def open_target(self) -> OpenTarget:
        """The same, laid open for the search."""
        return OpenTarget.of(self.embodiment, self.model, self._corrected)

    def _corrected(self, model: mujoco.MjModel, n: int = 1) -> CorrectedWorld:
        return CorrectedWorld(MujocoWorld(self.embodiment, n, models=model), self.residual)


def fit_forward(embodiment: Embodiment, episodes: Sequence[Episode], z: Float | None = None) -> Forward:
    """Fit physics first, unless it is known by its parameters z, then a residual to what physics leaves."""
    kept, apart = set_apart(episodes)
    physics, targets = Physics(embodiment), embodiment.spec.targets
    transitions = Transitions.of(kept)
    # Some observations tell masses: a robot with weak motors is not to be shown as a heavy one.
    values = in_fewest_terms(physics, physics.values(identify(physics, transitions, targets).z if z is None else z))
    simulator = physics.simulator(values)
    residual = fit_residual(Steps.of(kept, simulator), targets, stream(0, "residual"))
    spread = (transitions.after - transitions.before)[:, targets].std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def size(steps: Steps, expected: Float) -> float:
        return float(np.sqrt(np.square((steps.reached - expected)[:, targets] / spread).mean()))

    before, after = Steps.of(apart, unlimited_world(embodiment)), Steps.of(apart, simulator)
    fitted = Fitted(
        sum(one.samples for episode in episodes for one in episode),
        len(episodes),
        size(before, before.expected),
        size(after, residual(after.observations, after.applied, after.expected)),
    )
    return Forward(embodiment, physics.model(values), residual, fitted)
