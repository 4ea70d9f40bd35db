"""The price of an error is what it takes to correct it later.

An underactuated robot cannot reach every wanted state, and must miss some part of it. The part to hit is the one that
is hard to make up for: P, the cost-to-go of a linear-quadratic regulator that brings the robot back to the policy's own
course. It is found in the source simulator alone, by the Riccati recursion backward along that trajectory,

    K = (R + g B'PB)^-1 g B'PA        P <- Q + g A'P (A - B K)

with Q = 1 in standard deviations of a step, R = 1 in half ranges of the actuators, and A, B of the simulator at every
step. P is averaged over the trajectory: at unit trace, so that every state has the same say, or as it is, which is the
expected cost-to-go. R is scaled alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import AnyPolicy, Bool, Float, Simulator, rollout
from isthmus.core.linear import solve
from isthmus.core.metric import Metric
from isthmus.sim.sensitivity import NUDGE, action_sensitivity, state_sensitivity

ROLLOUT_STEPS = 300
ROLLOUTS = 2
"""Simulations whose trajectory the recursion goes back along; the others only give the standard deviation."""
DISCOUNT = 0.97
TAIL = 0.2
"""Share of a trajectory that the recursion needs to forget where it began."""


@dataclass(frozen=True)
class LinearCourse:
    """A stretch of the policy's trajectory with the simulator's derivatives along it, in standard deviations."""

    states: Float
    """How the next targets change with the targets (T, d, d)."""
    inputs: Float
    """How they change with the actions (T, d, act)."""

    @staticmethod
    def along(simulator: Simulator, observations: Float, actions: Float, even: Metric, nudge: float) -> "LinearCourse":
        """The derivatives at observations (T, obs) and actions (T, act), by differences of the size `nudge`."""
        _, inputs = action_sensitivity(simulator, observations, actions, even, nudge)
        return LinearCourse(state_sensitivity(simulator, observations, actions, even, nudge), inputs)

    def costs(self, discount: float) -> list[Float]:
        """P at every state of the course but its last ones, each (d, d)."""
        d, act = self.inputs.shape[1:]
        weights, found = np.eye(d), list[Float]()
        for a, b in zip(self.states[::-1], self.inputs[::-1], strict=True):
            gain = solve(np.eye(act) + discount * b.T @ weights @ b, discount * b.T @ weights @ a)
            weights = np.eye(d) + discount * a.T @ weights @ (a - b @ gain)
            weights = (weights + weights.T) / 2
            found.append(weights)
        return found[int(TAIL * len(found)) :]


@dataclass(frozen=True)
class LinearCourses:
    """Several of them."""

    even: Metric
    courses: tuple[LinearCourse, ...]

    def cost_to_go(self, discount: float, *, expected: bool) -> Metric:
        """The metric whose weights are P on average, as it is where that is `expected`, else at unit trace."""
        found = [weights for course in self.courses for weights in course.costs(discount)]
        traces = np.array([np.trace(weights) for weights in found])
        if expected:
            weights: Float = np.mean(found, axis=0) / traces.mean()
        else:
            weights = np.mean([one / trace for one, trace in zip(found, traces, strict=True)], axis=0)
        root = np.asarray(np.linalg.cholesky(weights + 1e-12 * np.eye(len(weights))), dtype=np.float64)
        effort = float(1 / traces.mean() if expected else np.mean(1 / traces))
        return Metric(self.even.targets, self.even.scale, root, effort)


def cost_to_go(policy: AnyPolicy, simulator: Simulator, rng: np.random.Generator) -> Metric:
    """The metric of `policy` in `simulator`, whose worlds run side by side; actuator limits are kept for it here."""
    return linear_courses(policy, simulator, rng).cost_to_go(DISCOUNT, expected=False)


def linear_courses(
    policy: AnyPolicy,
    simulator: Simulator,
    rng: np.random.Generator,
    *,
    courses: int = ROLLOUTS,
    skip: int = 0,
    nudge: float = NUDGE,
) -> LinearCourses:
    """Trajectories of `policy` without their first `skip` steps; where none lasts that long, with them."""
    observations, actions, running = _rollout(policy, simulator, rng)
    even = _step_scaled_metric(simulator, observations, running)
    lengths = running[:, : min(courses, simulator.n)].sum(axis=0)
    if lengths.max(initial=0) <= 2 * skip:
        skip = 0
    found = [
        LinearCourse.along(simulator, observations[skip:length, world], actions[skip:length, world], even, nudge)
        for world, length in enumerate(lengths.tolist())
        if length > 2 * skip
    ]
    return LinearCourses(even, tuple(found))


def cost_to_go_along(simulator: Simulator, courses: Sequence[tuple[Float, Float]], even: Metric) -> Metric:
    """The metric along `courses`: the observations (T, obs) and the actions (T, act) of each."""
    found = tuple(LinearCourse.along(simulator, *course, even, NUDGE) for course in courses)
    return LinearCourses(even, found).cost_to_go(DISCOUNT, expected=False)


def even_metric(policy: AnyPolicy, simulator: Simulator, rng: np.random.Generator) -> Metric:
    """The metric in which all targets count alike, in standard deviations of a step when `policy` acts."""
    observations, _, running = _rollout(policy, simulator, rng)
    return _step_scaled_metric(simulator, observations, running)


def _step_scaled_metric(simulator: Simulator, observations: Float, running: np.ndarray) -> Metric:
    targets = simulator.spec.targets
    scale = np.diff(observations, axis=0)[running][:, targets].std(axis=0)
    return Metric.even(targets, np.where(scale > 0, scale, 1.0))


def _rollout(policy: AnyPolicy, simulator: Simulator, rng: np.random.Generator) -> tuple[Float, Float, Bool]:
    """Observations (T+1, n, obs), actions (T, n, act), and which worlds were still running in each step (T, n)."""
    spec, start = simulator.spec, simulator.reset(rng)
    steps = min(ROLLOUT_STEPS, spec.horizon)
    moments = list(rollout(simulator, policy, start, steps=steps, explore=spec.clip))
    seen = [start, *(moment.step.observations for moment in moments)]
    return np.stack(seen), np.stack([one.commands for one in moments]), np.stack([one.running for one in moments])
