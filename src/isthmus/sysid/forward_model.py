"""A forward model of a target that is known from logs alone.

It is the simulator with its physics put right, and a residual for what physics leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Episode, Float, stream
from isthmus.sim import CorrectedWorld, MujocoWorld, RobotModel
from isthmus.sim.unclamped import unclamped_world
from isthmus.sysid.estimate import canonical_scale
from isthmus.sysid.fit import identify
from isthmus.sysid.open_target import UnclampedTarget
from isthmus.sysid.physics import Physics
from isthmus.sysid.residual import Residual, Steps, fit_residual
from isthmus.sysid.transitions import Transitions, holdout_split


@dataclass(frozen=True)
class ForwardFit:
    """How well the logs are predicted."""

    samples: int
    episodes: int
    simulator_error: float
    model_error: float
    """One-step error on held-out episodes, in standard deviations of a step (root mean square): of the simulator as it
    was, and of the fitted model."""


@dataclass(frozen=True)
class ForwardModel:
    """The fitted model."""

    robot_model: RobotModel
    model: mujoco.MjModel
    residual: Residual
    fitted: ForwardFit
    physics: Physics
    z: Float
    """The parameters of its physics (p,)."""

    def world(self, n: int) -> CorrectedWorld:
        """The target as it seems to be, n times."""
        return self._corrected(self.model, n)

    def drawn(self, n: int, covariance: Float, rng: np.random.Generator) -> CorrectedWorld:
        """N robots whose physics differ by as much as the steps leave open: `covariance` (p, p) is that of z."""
        root, (low, high) = np.linalg.cholesky(covariance), self.physics.bounds
        drawn = [np.clip(self.z + root @ rng.standard_normal(len(root)), low, high) for _ in range(n)]
        models = [self.physics.model(canonical_scale(self.physics, self.physics.values(z))) for z in drawn]
        return CorrectedWorld(MujocoWorld(self.robot_model, n, models=models), self.residual)

    def unclamped_target(self) -> UnclampedTarget:
        """The same, laid open for the search."""
        return UnclampedTarget.of(self.robot_model, self.model, self._corrected)

    def _corrected(self, model: mujoco.MjModel, n: int = 1) -> CorrectedWorld:
        return CorrectedWorld(MujocoWorld(self.robot_model, n, models=model), self.residual)


def fit_forward_model(robot_model: RobotModel, episodes: Sequence[Episode], z: Float | None = None) -> ForwardModel:
    """Fit physics first, unless it is known by its parameters z, then a residual to what physics leaves."""
    kept, apart = holdout_split(episodes)
    physics, targets = Physics(robot_model), robot_model.spec.targets
    transitions = Transitions.of(kept)
    # Some observations tell masses: a robot with weak motors is not to be shown as a heavy one.
    z = identify(physics, transitions, targets).z if z is None else z
    values = canonical_scale(physics, physics.values(z))
    simulator = physics.simulator(values)
    residual = fit_residual(Steps.of(kept, simulator), targets, stream(0, "residual"))
    scale = (transitions.after - transitions.before)[:, targets].std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def size(steps: Steps, expected: Float) -> float:
        return float(np.sqrt(np.square((steps.reached - expected)[:, targets] / scale).mean()))

    before, after = Steps.of(apart, unclamped_world(robot_model)), Steps.of(apart, simulator)
    fitted = ForwardFit(
        sum(one.samples for episode in episodes for one in episode),
        len(episodes),
        size(before, before.expected),
        size(after, residual(after.observations, after.applied, after.expected)),
    )
    return ForwardModel(robot_model, physics.model(values), residual, fitted, physics, z)
