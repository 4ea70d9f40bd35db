"""Iterative LQR: linearise about a plan, improve it by a backward pass, roll it out, and begin again from there.

The backward pass of control-limited differential dynamic programming (Tassa, Mansard, Todorov 2014).

    Qx  = lx + A'Vx       Qu  = lu + B'Vx       Qxx = lxx + A'VxxA      Quu = luu + B'VxxB      Qux = lux + B'VxxA

k is the least of Quu in the room that the limits leave, K = -Quu^-1 Qux for the controls that are not held there. Where
Quu (with mu on its diagonal) is not positive definite, mu doubles and the pass begins anew. A plan that no mu helps, as
one that leaves what can be computed, stays as it is.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from isthmus.adapt.common.least_in_box import least_in_box, solve_free
from isthmus.core import Bool, Float, Int

FIRST, LARGEST = 1e-6, 1e12
"""Sizes of mu: the first that is tried after none, and one that no problem needs."""
SINGULAR, HUGE = 1e-6, 1e100
"""A Cholesky factor whose pivots differ by more than this, or are this large, tells of rounding alone."""


@dataclass(frozen=True)
class Local:
    """What changes with small deviations x and u from n plans of T steps.

    x' = A x + B u, at a cost of lx x + lu u + (x lxx x + u luu u) / 2 + u lux x in every step, and Vx x + x Vxx x / 2
    at the end.
    """

    A: Float  # (n, T, d, d)
    B: Float  # (n, T, d, act)
    lx: Float  # (n, T, d)
    lu: Float  # (n, T, act)
    lxx: Float  # (n, T, d, d)
    luu: Float  # (n, T, act, act)
    lux: Float  # (n, T, act, d)
    Vx: Float  # (n, d)
    Vxx: Float  # (n, d, d)


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

    states: Float  # (n, T+1, d)
    controls: Float
    """(n, T, act), within the limits."""
    cost: Float  # (n,)
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


@dataclass(frozen=True)
class Gains:
    """u = u_plan + k + K (x - x_plan)."""

    k: Float  # (n, T, act)
    K: Float  # (n, T, act, d)
    mu: Float
    """The Levenberg regularisation it took (n,)."""


def backward(local: Local, low: Float, high: Float, mu: Float) -> Gains:
    """The gains of n plans, whose controls may move between `low` and `high` (n, T, act), with `mu` (n,) or more."""
    n, steps, act, d = local.lux.shape
    gains = Gains(np.zeros((n, steps, act)), np.zeros((n, steps, act, d)), mu.copy())
    rows: Int = np.arange(len(local.lux))
    while rows.size:
        k, K, definite = _one_pass(_rows(local, rows), low[rows], high[rows], gains.mu[rows])
        gains.k[rows], gains.K[rows] = k, K
        rows = rows[~definite]
        gains.mu[rows] = np.maximum(2 * gains.mu[rows], FIRST)
        beyond = rows[gains.mu[rows] > LARGEST]
        gains.k[beyond], gains.K[beyond], gains.mu[beyond] = 0.0, 0.0, 0.0
        rows = np.setdiff1d(rows, beyond)
    return gains


def _one_pass(local: Local, low: Float, high: Float, mu: Float) -> tuple[Float, Float, Bool]:
    """k, K, and for which plans Quu was positive definite all the way."""
    n, steps, act, d = local.lux.shape
    k, K = np.zeros((n, steps, act)), np.zeros((n, steps, act, d))
    definite = np.ones(n, np.bool_)
    Vx, Vxx = local.Vx, local.Vxx
    for t in range(steps - 1, -1, -1):
        A, B = local.A[:, t], local.B[:, t]
        At, Bt = A.transpose(0, 2, 1), B.transpose(0, 2, 1)
        Qx = local.lx[:, t] + np.einsum("nde,ne->nd", At, Vx)
        Qu = local.lu[:, t] + np.einsum("nad,nd->na", Bt, Vx)
        Qxx = local.lxx[:, t] + At @ Vxx @ A
        Quu = local.luu[:, t] + Bt @ Vxx @ B
        Qux = local.lux[:, t] + Bt @ Vxx @ A
        damped = Quu + mu[:, None, None] * np.eye(act)
        definite &= _definite(damped)
        damped[~definite] = np.eye(act)  # of no consequence: these plans are done again
        k[:, t], held = least_in_box(damped, Qu, low[:, t], high[:, t])
        K[:, t] = -solve_free(damped, Qux, held)
        kt, Kt = k[:, t], K[:, t].transpose(0, 2, 1)
        Vx = Qx + np.einsum("nda,na->nd", Kt, np.einsum("nab,nb->na", Quu, kt) + Qu)
        Vx = Vx + np.einsum("nad,na->nd", Qux, kt)
        Vxx = Qxx + Kt @ Quu @ K[:, t] + Kt @ Qux + Qux.transpose(0, 2, 1) @ K[:, t]
        Vxx = (Vxx + Vxx.transpose(0, 2, 1)) / 2
    return k, K, definite


def _definite(matrices: Float) -> Bool:
    """Which of them have a Cholesky factor (n,)."""
    try:
        factors = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        if len(matrices) > 1:
            return np.concatenate([_definite(one[None]) for one in matrices])
        return np.zeros(1, np.bool_)
    pivots = np.diagonal(factors, axis1=1, axis2=2)
    least, most = pivots.min(axis=1), pivots.max(axis=1)
    return np.asarray((least > SINGULAR * most) & (least > 1 / HUGE) & (most < HUGE), np.bool_)


def _rows(local: Local, rows: Int) -> Local:
    return Local(**{name: getattr(local, name)[rows] for name in Local.__dataclass_fields__})
