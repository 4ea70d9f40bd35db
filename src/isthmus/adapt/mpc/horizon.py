"""A horizon as a problem for iterative LQR: the same affine dynamics all along it, and the source's own cost.

The cost of a step depends on y = (measures before, action, measures after), which is affine in state and control; its
curvature in y comes from finite differences, and what of it is not convex is left out.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.method import SourceCost
from isthmus.adapt.mpc.affine import Affine, Units
from isthmus.adapt.mpc.ilqr import Local
from isthmus.core import Float

NUDGE = 1e-3
"""Size of a difference, in standard deviations of a state or half ranges of a control."""


@dataclass(frozen=True)
class Outlook:
    """F = dT_src/d[x; u] and f = T_src(x, u) - F [x; u], and the same for the measures that the cost is made of."""

    dynamics: Affine
    before: Affine
    """The measures before a step (n, m), of state and control."""
    after: Affine
    """The measures after it (n, m)."""


def outlook(cost: SourceCost, units: Units, observations: Float, controls: Float) -> Outlook:
    """By batched finite differences about observations (n, obs) and controls (n, act)."""
    n, obs = observations.shape
    d, act = len(units.targets), controls.shape[1]
    nudged = np.repeat(observations[:, None], 1 + d + act, axis=1)
    nudged[:, np.arange(1, d + 1), units.targets] += NUDGE * units.scale
    tried = np.repeat(controls[:, None], 1 + d + act, axis=1)
    tried[:, np.arange(d + 1, 1 + d + act), np.arange(act)] += NUDGE
    seen, before, after = cost.predict(nudged.reshape(-1, obs), units.action(tried).reshape(-1, act), n)
    states = units.state(observations)

    def affine(values: Float) -> Affine:
        values = values.reshape(n, 1 + d + act, -1)
        change = ((values[:, 1:] - values[:, :1]) / NUDGE).transpose(0, 2, 1)
        slope = Affine(change[:, :, :d], change[:, :, d:], np.zeros_like(values[:, 0]))
        return Affine(slope.A, slope.B, values[:, 0] - slope(states, controls))

    return Outlook(affine(units.state(seen)), affine(before), affine(after))


DIFFERENCE = 1e-2
"""Over which the cost is differentiated, in units of the measures and half ranges: kinks within it are smoothed."""
EFFORT = 0.01
"""Price of a squared control, in half ranges: a score alone leaves controls undecided that it does not ask for."""


@dataclass(frozen=True)
class Horizon:
    """n problems, for `isthmus.adapt.mpc.ilqr`."""

    dynamics: Affine
    outlook: Outlook
    cost_of: SourceCost
    units: Units

    def step(self, t: int, states: Float, controls: Float) -> Float:  # noqa: ARG002 - it is the same at all times
        """The next states (n, d)."""
        return self.dynamics(states, controls)

    def cost(self, states: Float, controls: Float) -> Float:
        """The cost of whole trajectories (n,)."""
        effort = EFFORT * np.square(controls).sum(axis=(1, 2))
        return self._price(self._parts(states, controls)).sum(axis=1) + effort

    def local(self, states: Float, controls: Float) -> Local:
        """Dynamics and cost near trajectories of states (n, T+1, d) and controls (n, T, act)."""
        n, steps, act = controls.shape
        d = states.shape[2]
        slope, curvature = self._expand(self._parts(states, controls))
        jacobian = self._jacobian(act)[:, None]  # (n, 1, y, d + act)
        gradient = np.einsum("ntyi,nty->nti", np.broadcast_to(jacobian, (n, steps, *jacobian.shape[2:])), slope)
        hessian = jacobian.transpose(0, 1, 3, 2) @ curvature @ jacobian
        return Local(
            A=np.broadcast_to(self.dynamics.A[:, None], (n, steps, d, d)),
            B=np.broadcast_to(self.dynamics.B[:, None], (n, steps, d, act)),
            lx=gradient[..., :d],
            lu=gradient[..., d:] + 2 * EFFORT * controls,
            lxx=hessian[..., :d, :d],
            luu=hessian[..., d:, d:] + 2 * EFFORT * np.eye(act),
            lux=hessian[..., d:, :d],
            Vx=np.zeros((n, d)),
            Vxx=np.zeros((n, d, d)),
        )

    def _parts(self, states: Float, controls: Float) -> Float:
        """Y (n, T, 2 m + act) of every step."""
        parts: list[Float] = []
        for t in range(controls.shape[1]):
            x, u = states[:, t], controls[:, t]
            parts.append(np.concatenate((self.outlook.before(x, u), u, self.outlook.after(x, u)), axis=1))
        return np.stack(parts, axis=1)

    def _jacobian(self, act: int) -> Float:
        """How y moves with state and control (n, 2 m + act, d + act)."""
        before, after = self.outlook.before, self.outlook.after
        n, _, d = before.A.shape
        action = np.broadcast_to(np.concatenate((np.zeros((act, d)), np.eye(act)), axis=1), (n, act, d + act))
        return np.concatenate(
            (
                np.concatenate((before.A, before.B), axis=2),
                action,
                np.concatenate((after.A, after.B), axis=2),
            ),
            axis=1,
        )

    def _price(self, parts: Float) -> Float:
        """The cost (...) of y (..., 2 m + act)."""
        m = self.outlook.before.A.shape[1]
        flat = parts.reshape(-1, parts.shape[-1])
        before, controls, after = flat[:, :m], flat[:, m:-m], flat[:, -m:]
        return self.cost_of.cost(before, self.units.action(controls), after).reshape(parts.shape[:-1])

    def _expand(self, parts: Float) -> tuple[Float, Float]:
        """Slope (n, T, y) and convex curvature (n, T, y, y) of the cost at y (n, T, y)."""
        size, h = parts.shape[-1], DIFFERENCE
        steps = h * np.eye(size)
        here = self._price(parts)
        up, down = (self._price(parts[..., None, :] + sign * steps) for sign in (1, -1))
        slope = (up - down) / (2 * h)
        pairs = self._price(parts[..., None, None, :] + steps[:, None] + steps[None])
        curvature = (pairs - up[..., :, None] - up[..., None, :] + here[..., None, None]) / h**2
        diagonal = (up + down - 2 * here[..., None]) / h**2
        curvature[..., np.arange(size), np.arange(size)] = diagonal
        values, vectors = np.linalg.eigh((curvature + np.swapaxes(curvature, -1, -2)) / 2)
        return slope, (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
