from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.adapt.mpc.ilqr import Local, backward, ilqr

NO_LIMIT = np.full(2, 1e9)


@dataclass
class Regulator:
    """x' = A x + B u at a cost of (x'Qx + u'Ru) / 2 in every step, and x'Sx / 2 at the end."""

    A: np.ndarray
    B: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    S: np.ndarray

    @staticmethod
    def drawn(rng, d=4, act=2):
        def definite(size):
            root = rng.standard_normal((size, size))
            return root @ root.T + 0.5 * np.eye(size)

        return Regulator(
            0.6 * rng.standard_normal((d, d)), rng.standard_normal((d, act)), definite(d), definite(act), definite(d)
        )

    def step(self, _t, states, controls):
        return states @ self.A.T + controls @ self.B.T

    def cost(self, states, controls):
        def paid(rows, weights):
            return np.einsum("n...a,ab,n...b->n...", rows, weights, rows) / 2

        stages = paid(states[:, :-1], self.Q) + paid(controls, self.R)
        return stages.sum(axis=1) + paid(states[:, -1], self.S)

    def local(self, states, controls):
        n, steps, act = controls.shape

        def everywhere(matrix):
            return np.broadcast_to(matrix, (n, steps, *matrix.shape))

        return Local(
            A=everywhere(self.A),
            B=everywhere(self.B),
            lx=states[:, :-1] @ self.Q,
            lu=controls @ self.R,
            lxx=everywhere(self.Q),
            luu=everywhere(self.R),
            lux=np.zeros((n, steps, act, states.shape[2])),
            Vx=states[:, -1] @ self.S,
            Vxx=np.broadcast_to(self.S, (n, *self.S.shape)),
        )

    def riccati(self, start, steps):
        """The regulator's own recursion, and the controls it gives."""
        P, gains = self.S, []
        for _ in range(steps):
            K = np.linalg.solve(self.R + self.B.T @ P @ self.B, self.B.T @ P @ self.A)
            P = self.Q + self.A.T @ P @ (self.A - self.B @ K)
            gains.append(K)
        states, controls = start, []
        for K in reversed(gains):
            controls.append(-states @ K.T)
            states = self.step(0, states, controls[-1])
        return np.stack(controls, axis=1), np.einsum("na,ab,nb->n", start, P, start) / 2


@given(st.integers(0, 1000))
@settings(max_examples=25)
def test_a_linear_system_is_regulated_as_by_riccati_in_one_pass(seed):
    rng = np.random.default_rng(seed)
    system, start = Regulator.drawn(rng), rng.standard_normal((3, 4))
    controls, cost = system.riccati(start, 15)
    plan = ilqr(system, start, rng.standard_normal((3, 15, 2)), -NO_LIMIT, NO_LIMIT, iterations=1)
    np.testing.assert_allclose(plan.controls, controls, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(plan.cost, cost, rtol=1e-8)


def test_within_limits_no_change_of_a_control_makes_the_plan_cheaper():
    rng = np.random.default_rng(3)
    system, start, limit = Regulator.drawn(rng), 3 * rng.standard_normal((4, 4)), np.full(2, 0.3)
    plan = ilqr(system, start, np.zeros((4, 10, 2)), -limit, limit, iterations=50)
    assert np.abs(plan.controls).max() == 0.3
    for _ in range(300):
        other = np.clip(plan.controls + 0.02 * rng.standard_normal(plan.controls.shape), -limit, limit)
        changed = ilqr(system, start, other, -limit, limit, iterations=0)
        assert (changed.cost >= plan.cost - 1e-9).all()


def test_a_cost_that_is_not_convex_is_regularised_where_it_is_not():
    rng = np.random.default_rng(0)
    system = Regulator.drawn(rng)
    local = system.local(rng.standard_normal((2, 6, 4)), rng.standard_normal((2, 5, 2)))
    hollow = local.luu.copy()
    hollow[1] = -50 * np.eye(2)
    room = np.ones((2, 5, 2))
    bent = Local(**{**vars(local), "luu": hollow})
    gains = backward(bent, -room, room, np.zeros(2))
    assert gains.mu[0] == 0 < gains.mu[1]
    assert np.isfinite(gains.K).all()
    np.testing.assert_allclose(gains.k[0], backward(local, -room, room, np.zeros(2)).k[0], atol=1e-12)
    hollow[1] = np.nan
    broken = backward(Local(**{**vars(local), "luu": hollow}), -room, room, np.zeros(2))
    np.testing.assert_allclose(broken.k[0], gains.k[0], atol=1e-12)
    assert not broken.k[1].any()  # nothing is known to be better: the plan stays
    assert not broken.K[1].any()
    assert np.isfinite(broken.mu).all()


class Pendulum:
    """A rod that hangs at angle 0 and is to stand at pi; its motor is too weak to lift it at once."""

    period, steps = 0.05, 100

    def step(self, _t, states, controls):
        speed = states[:, 1] + self.period * (controls[:, 0] - 9.81 * np.sin(states[:, 0]))
        return np.stack((states[:, 0] + self.period * speed, speed), axis=1)

    def cost(self, states, controls):
        away = 1 + np.cos(states[..., 0])
        stages = 0.02 * away[:, :-1] + 1e-3 * np.square(controls[..., 0])
        return stages.sum(axis=1) + 20 * away[:, -1] + np.square(states[:, -1, 1])

    def local(self, states, controls):
        n, steps, _ = controls.shape
        angle, end = states[:, :-1, 0], states[:, -1]
        slope = np.zeros((n, steps, 2))
        slope[..., 0] = -0.02 * np.sin(angle)
        lxx = np.zeros((n, steps, 2, 2))
        lxx[..., 0, 0] = -0.02 * np.cos(angle)
        A = np.zeros((n, steps, 2, 2))
        A[..., 1, 0] = -self.period * 9.81 * np.cos(angle)
        A[..., 1, 1] = 1
        A[..., 0, :] = self.period * A[..., 1, :]
        A[..., 0, 0] += 1
        B = np.broadcast_to(np.array([[self.period**2], [self.period]]), (n, steps, 2, 1))
        Vxx = np.zeros((n, 2, 2))
        Vxx[:, 0, 0], Vxx[:, 1, 1] = -20 * np.cos(end[:, 0]), 2
        return Local(
            A=A,
            B=B,
            lx=slope,
            lu=2e-3 * controls,
            lxx=lxx,
            luu=np.full((n, steps, 1, 1), 2e-3),
            lux=np.zeros((n, steps, 1, 2)),
            Vx=np.stack((-20 * np.sin(end[:, 0]), 2 * end[:, 1]), axis=1),
            Vxx=Vxx,
        )


def test_a_weak_pendulum_swings_up_and_stays_within_its_torque():
    system, limit = Pendulum(), np.array([4.0])
    rng = np.random.default_rng(0)
    start = np.zeros((2, 2))
    plan = ilqr(system, start, 0.5 * rng.standard_normal((2, system.steps, 1)), -limit, limit, iterations=300)
    assert np.abs(plan.controls).max() == 4.0
    assert (np.cos(plan.states[:, -1, 0]) < -0.99).all()
    assert (np.abs(plan.states[:, -1, 1]) < 0.3).all()
    assert np.abs(np.arcsin(limit / 9.81)) < np.pi / 2  # held still, it would not get past this


def test_a_plan_goes_on_from_a_warm_start():
    rng = np.random.default_rng(1)
    system, start = Regulator.drawn(rng), rng.standard_normal((1, 4))
    limit = np.full(2, 0.2)
    first = ilqr(system, start, np.zeros((1, 12, 2)), -limit, limit, iterations=50)
    again = ilqr(system, start, first.controls, -limit, limit, iterations=1)
    assert again.cost <= first.cost
    np.testing.assert_allclose(again.controls, first.controls, atol=1e-6)
