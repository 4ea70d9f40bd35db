"""The price of an error is what it takes to correct it later.

An underactuated robot cannot reach every wanted state, and must miss some part of it. The part to hit is the one that
is hard to make up for: P, the cost-to-go of a linear-quadratic regulator that brings the robot back to the policy's own
course. It is found in the source simulator alone, by the Riccati recursion backward along that trajectory,

    K = (R + g B'PB)^-1 g B'PA        P <- Q + g A'P (A - B K)

with Q = 1 in standard deviations of a step, R = 1 in half ranges of the actuators, and A, B of the simulator at every
step. P is averaged over the trajectory, at unit trace; so is R.
"""

from collections.abc import Sequence

import numpy as np

from isthmus.core import AnyPolicy, Bool, Float, Simulator, rollout
from isthmus.core.linear import solve
from isthmus.core.metric import Metric
from isthmus.sim.sensitivity import action_sensitivity, state_sensitivity

ROLLOUT_STEPS = 300
ROLLOUTS = 2
"""Simulations whose trajectory the recursion goes back along; the others only give the standard deviation."""
DISCOUNT = 0.97
TAIL = 0.2
"""Share of a trajectory that the recursion needs to forget where it began."""


def cost_to_go(policy: AnyPolicy, simulator: Simulator, rng: np.random.Generator) -> Metric:
    """The metric of `policy` in `simulator`, whose worlds run side by side; actuator limits are kept for it here."""
    observations, actions, running = _rollout(policy, simulator, rng)
    even = _step_scaled_metric(simulator, observations, running)
    courses = [
        (observations[:length, world], actions[:length, world])
        for world in range(min(ROLLOUTS, simulator.n))
        if (length := int(running[:, world].sum()))
    ]
    return cost_to_go_along(simulator, courses, even)


def cost_to_go_along(simulator: Simulator, courses: Sequence[tuple[Float, Float]], even: Metric) -> Metric:
    """The metric along `courses`: the observations (T, obs) and the actions (T, act) of each."""
    found = [
        weights for observations, actions in courses for weights in _riccati(simulator, observations, actions, even)
    ]
    traces = [float(np.trace(weights)) for weights in found]
    weights: Float = np.mean([weights / trace for weights, trace in zip(found, traces, strict=True)], axis=0)
    root = np.asarray(np.linalg.cholesky(weights + 1e-12 * np.eye(len(even.targets))), dtype=np.float64)
    return Metric(even.targets, even.scale, root, effort=float(np.mean([1 / trace for trace in traces])))


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


def _riccati(simulator: Simulator, observations: Float, actions: Float, even: Metric) -> list[Float]:
    """P at every state (T, obs) of a trajectory but its last ones."""
    states = state_sensitivity(simulator, observations, actions, even)
    _, inputs = action_sensitivity(simulator, observations, actions, even)
    d, act = inputs.shape[1:]
    weights, found = np.eye(d), list[Float]()
    for a, b in zip(states[::-1], inputs[::-1], strict=True):
        gain = solve(np.eye(act) + DISCOUNT * b.T @ weights @ b, DISCOUNT * b.T @ weights @ a)
        weights = np.eye(d) + DISCOUNT * a.T @ weights @ (a - b @ gain)
        weights = (weights + weights.T) / 2
        found.append(weights)
    return found[int(TAIL * len(found)) :]
