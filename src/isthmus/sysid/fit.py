"""Fit a simulator's physical parameters to single steps of the robot.

    z = argmin_z  sum_td w_td ((o'_td - T_z(o_t, a_t)_d) / s_d)^2 / D + |z|^2

T_z is the simulator put where the robot was seen to be, and z its parameters in deviations of their prior: what the
steps do not determine stays as the simulator has it. s is how well each part of an observation is predicted in the
end, and w takes weight from single steps that are predicted much worse than most, as around a contact that the
simulator has a moment earlier or later; both follow from the errors and are found in turns with z. Where a few steps
stay far off and most are exact, those few may be all that shows: then all count alike until they have had their say.

The optimiser is the one that `mujoco.sysid` uses by default, `mujoco.minimize`. The rest of `mujoco.sysid` serves
another purpose: it compares the sensors of a few long open-loop rollouts, which part from a walking robot's for good
at its first step, and compiles a model for every parameter it tries. It also needs SciPy and half a dozen others.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mujoco import minimize

from isthmus.core import Float, Int
from isthmus.sysid.physics import Physics
from isthmus.sysid.transitions import Transitions

ROUNDS = 10
"""Times that s and w are found anew at most; each takes one Gauss-Newton step, or a few shorter ones."""
SETTLED = 1e-2
"""A step that gains no more than this share of the cost ends the search."""
STALE = 0.03
"""Derivatives are taken anew once z has moved so far from where they were taken."""
NUDGE = 1e-4
"""Size of a finite difference: contacts are solved to about 1e-8, so that a smaller one would see rounding."""
MOST_PREDICTIONS = 20_000
"""Predictions behind one Jacobian at most: with many parameters, fewer of the steps are used."""
FEWEST_STEPS = 200
SHARPEST = 1e-4
"""No part of an observation is trusted more than this share of its change in one step."""
OUTLYING = 3.0
"""Errors count less from so many s on."""
TO_DEVIATION = 1.4826
"""From the median absolute value of a Gaussian to its standard deviation."""


@dataclass(frozen=True)
class PredictionError:
    """How far predictions are off, in standard deviations of a step."""

    typical: float
    """In a typical step."""
    rms: float
    """In all of them: root mean square."""


@dataclass(frozen=True)
class IdentifiedParameters:
    """Parameters, and how well the steps determine them."""

    z: Float  # (p,)
    covariance: Float
    """Of z, given the steps; it would be 1 without any (p, p)."""
    before: PredictionError
    after: PredictionError
    """In the simulator as it was, and as it is now."""


def identify(physics: Physics, steps: Transitions, targets: Int, start: Float | None = None) -> IdentifiedParameters:
    """The parameters that explain `steps` best, looked for from `start`, or from the simulator's own."""
    problem = _Problem.of(physics, steps, targets)
    z, jacobian = _search(problem, np.zeros(physics.size) if start is None else start, problem.weights)
    if problem.is_lopsided(z):
        heard, _ = _search(problem, z, problem.even_weights)
        other, its_jacobian = _search(problem, heard, problem.weights)
        if problem.prefers(other, z):
            z, jacobian = other, its_jacobian
    return IdentifiedParameters(
        z,
        np.asarray(np.linalg.inv(jacobian.T @ jacobian + np.eye(len(z))), dtype=np.float64),
        problem.off(np.zeros_like(z)),
        problem.off(z),
    )


def _search(problem: "_Problem", z: Float, weights_at: Callable[[Float], Float]) -> tuple[Float, Float]:
    """Where errors lead to from z that count by `weights_at`, and how they change there."""
    change, there = problem.change(z), z
    jacobian = np.empty((0, len(z)))
    for _ in range(ROUNDS):
        if np.abs(z - there).max() > STALE:
            change, there = problem.change(z), z
        weights = weights_at(z)
        jacobian = (weights[..., None] * change).reshape(-1, len(z))
        z, gained = _step(problem, z, weights, jacobian)
        if gained < SETTLED:
            break
    return z, jacobian


def _step(problem: "_Problem", z: Float, weights: Float, jacobian: Float) -> tuple[Float, float]:
    """One accepted step of the optimiser, and the share of the cost that it gains.

    `jacobian` is that of the weighed errors at z.
    """

    def residual(tried: Float) -> Float:
        """Columns of residuals for columns of parameters."""
        return np.stack([np.concatenate(((problem.errors(one) * weights).ravel(), one)) for one in tried.T], axis=1)

    found, trace = minimize.least_squares(
        z,
        residual,
        bounds=problem.physics.bounds,
        jacobian=lambda _x, _r: np.vstack((jacobian, np.eye(len(z)))),
        max_iter=1,
        verbose=minimize.Verbosity.SILENT,
    )
    return np.asarray(found, dtype=np.float64), float(trace[0].reduction / max(trace[0].objective, 1e-12))


@dataclass(frozen=True)
class _Problem:
    """Steps to be predicted."""

    physics: Physics
    steps: Transitions
    targets: Int
    """The parts of an observation that are to be predicted and do change (d,)."""
    scale: Float
    """How much they change in a step (d,)."""

    @staticmethod
    def of(physics: Physics, steps: Transitions, targets: Int) -> "_Problem":
        steps = steps.thinned(max(MOST_PREDICTIONS // physics.size, FEWEST_STEPS))
        scale = (steps.after - steps.before)[:, targets].std(axis=0)
        changing = scale > 1e-9 * np.abs(steps.after[:, targets]).max(axis=0, initial=1.0)
        return _Problem(physics, steps, targets[changing], scale[changing])

    def errors(self, z: Float, *, coarse: bool = False) -> Float:
        """What is not predicted (n, d), in standard deviations."""
        seen = self.physics.predict(self.physics.values(z), self.steps.before, self.steps.actions, coarse=coarse)
        return (self.steps.after - seen)[:, self.targets] / self.scale

    def weights(self, z: Float) -> Float:
        """Roots of w / (d s^2) (n, d)."""
        errors = self.errors(z)
        typical = _typical(errors)
        return 1 / (_once(errors) * typical * np.hypot(1.0, errors / (OUTLYING * typical)))

    def even_weights(self, z: Float) -> Float:
        """The same if no step is an outlier: w = 1, and s is that of all errors."""
        errors = self.errors(z)
        size = np.maximum(np.sqrt(np.square(errors).mean(axis=0)), SHARPEST)
        return np.broadcast_to(1 / (_once(errors) * size), errors.shape)

    def is_lopsided(self, z: Float) -> bool:
        """Whether a few errors are far beyond the typical ones, and outweigh them all."""
        errors = self.errors(z)
        return bool(np.square(errors).mean() > OUTLYING**2 * np.square(_typical(errors)).mean())

    def prefers(self, one: Float, other: Float) -> bool:
        """Whether `one` is the better of two z, in one and the same s: what the weights lead to the least of."""
        tried = self.errors(one), self.errors(other)
        typical = np.minimum(*(_typical(errors) for errors in tried))
        costs = [
            np.log1p(np.square(errors / (OUTLYING * typical))).sum() * (OUTLYING / _once(errors)) ** 2 + z @ z
            for errors, z in zip(tried, (one, other), strict=True)
        ]
        return bool(costs[0] < costs[1])

    def change(self, z: Float) -> Float:
        """How errors change with z (n, d, p): many predictions, and for a step of Gauss-Newton they may be coarse."""
        here = self.errors(z, coarse=True)
        away = NUDGE * np.where(z > 0, -1.0, 1.0)  # never past a bound
        columns = [
            (self.errors(z + nudge, coarse=True) - here) / size for nudge, size in zip(np.diag(away), away, strict=True)
        ]
        return np.nan_to_num(np.stack(columns, axis=2))

    def off(self, z: Float) -> PredictionError:
        """How far steps are off, taken over all that is seen of them."""
        errors = self.errors(z)
        typical, rms = (float(np.sqrt(np.square(one).mean())) for one in (_deviation(errors), errors))
        return PredictionError(typical, rms)


def _once(errors: Float) -> float:
    """Root of how often the errors (n, d) of a step count: one push moves all that is seen, and is one evidence."""
    return float(np.sqrt(errors.shape[1]))


def _typical(errors: Float) -> Float:
    """What s (d,) is by errors (n, d)."""
    return np.maximum(_deviation(errors), SHARPEST)


def _deviation(errors: Float) -> Float:
    """The standard deviation (d,) of errors (n, d) without the largest."""
    return TO_DEVIATION * np.median(np.abs(errors), axis=0)
