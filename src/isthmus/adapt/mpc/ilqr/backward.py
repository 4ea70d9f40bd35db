"""The backward pass of control-limited differential dynamic programming (Tassa, Mansard, Todorov 2014).

    Qx  = lx + A'Vx       Qu  = lu + B'Vx       Qxx = lxx + A'VxxA      Quu = luu + B'VxxB      Qux = lux + B'VxxA

k is the least of Quu in the room that the limits leave, K = -Quu^-1 Qux for the controls that are not held there. Where
Quu (with mu on its diagonal) is not positive definite, mu doubles and the pass begins anew. A plan that no mu helps, as
one that leaves what can be computed, stays as it is.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.mpc.ilqr.box import least_in_box, solve_free
from isthmus.adapt.mpc.ilqr.local import Local
from isthmus.core import Bool, Float, Int

FIRST, LARGEST = 1e-6, 1e12
"""Sizes of mu: the first that is tried after none, and one that no problem needs."""
SINGULAR, HUGE = 1e-6, 1e100
"""A Cholesky factor whose pivots differ by more than this, or are this large, tells of rounding alone."""


@dataclass(frozen=True)
class Gains:
    """u = u_plan + k + K (x - x_plan)."""

    k: Float
    """(n, T, act)."""
    K: Float
    """(n, T, act, d)."""
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
