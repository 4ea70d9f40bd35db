"""Iterative LQR: linearise about a plan, improve it by a backward pass, roll it out, and begin again from there."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from isthmus.adapt.mpc.ilqr.backward import backward
from isthmus.adapt.mpc.ilqr.local import Local
from isthmus.core import Bool, Float

STEP_SIZES = tuple(2.0**-i for i in range(9))
"""Shares of k that a rollout is tried with; the plan stays as it is where none of them improves it."""
EASED = 0.25
"""Share of the last pass's regularisation that the next one begins with."""
ENOUGH = 1e-10
"""Share of the cost that a pass must gain for another one to follow."""


class System(Protocol):
    """n problems of the same size: how states follow from each other, and what a trajectory costs."""

    def step(self, t: int, states: Float, controls: Float) -> Float:
        """States (n, d) one step after `states` (n, d), given `controls` (n, act) at step t."""
        ...

    def cost(self, states: Float, controls: Float) -> Float:
        """What trajectories of states (n, T+1, d) and controls (n, T, act) cost (n,)."""
        ...

    def local(self, states: Float, controls: Float) -> Local:
        """Dynamics and costs near such trajectories."""
        ...


@dataclass(frozen=True)
class Plan:
    """n trajectories that follow from their controls."""

    states: Float
    """(n, T+1, d)."""
    controls: Float
    """(n, T, act), within the limits."""
    cost: Float
    """(n,)."""
    mu: Float
    """The regularisation that the last backward pass took (n,)."""


def ilqr(system: System, start: Float, controls: Float, low: Float, high: Float, iterations: int) -> Plan:
    """The best plans from `start` (n, d), looked for from `controls` (n, T, act), within limits (act,)."""
    plan = rollout(system, start, np.clip(controls, low, high))
    for _ in range(iterations):
        better = improve(system, plan, low, high)
        gained = plan.cost - better.cost
        plan = better
        if (gained <= ENOUGH * np.abs(plan.cost)).all():
            break
    return plan


def rollout(system: System, start: Float, controls: Float) -> Plan:
    """Where `controls` (n, T, act) lead."""
    steps = controls.shape[1]
    states = np.empty((len(start), steps + 1, start.shape[1]))
    states[:, 0] = start
    for t in range(steps):
        states[:, t + 1] = system.step(t, states[:, t], controls[:, t])
    return Plan(states, controls, system.cost(states, controls), np.zeros(len(start)))


def improve(system: System, plan: Plan, low: Float, high: Float) -> Plan:
    """One backward pass, and the largest step along it that lowers each plan's cost."""
    local, room = system.local(plan.states, plan.controls), (low - plan.controls, high - plan.controls)
    gains = backward(local, *room, EASED * plan.mu)
    best, waiting = replace(plan, mu=gains.mu), np.ones(len(plan.cost), np.bool_)
    for size in STEP_SIZES:
        tried = _follow(system, plan, size * gains.k, gains.K, low, high)
        better = waiting & (tried.cost < plan.cost)
        best = _where(better, tried, best)
        waiting &= ~better
        if not waiting.any():
            break
    return best


def _follow(system: System, plan: Plan, k: Float, K: Float, low: Float, high: Float) -> Plan:
    """Roll out u = u_plan + k + K (x - x_plan), clipped to the limits."""
    states, controls = plan.states.copy(), plan.controls.copy()
    for t in range(controls.shape[1]):
        correction = np.einsum("nad,nd->na", K[:, t], states[:, t] - plan.states[:, t])
        controls[:, t] = np.clip(plan.controls[:, t] + k[:, t] + correction, low, high)
        states[:, t + 1] = system.step(t, states[:, t], controls[:, t])
    return replace(plan, states=states, controls=controls, cost=system.cost(states, controls))


def _where(better: Bool, tried: Plan, other: Plan) -> Plan:
    column = better[:, None, None]
    return replace(
        other,
        states=np.where(column, tried.states, other.states),
        controls=np.where(column, tried.controls, other.controls),
        cost=np.where(better, tried.cost, other.cost),
    )
