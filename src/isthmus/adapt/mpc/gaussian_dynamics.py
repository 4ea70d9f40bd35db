"""Gaussian dynamics adaptation (Fu, Levine, Abbeel 2015): a running Gaussian over z = [x; u; x'], led by the simulator.

    mu <- (1-g) mu + g z ;  S <- (1-g) S + g z z' ;  Sig = S - mu mu'

The simulator's own linearisation x' = F [x; u] + f is the prior, a Gaussian about where the robot is:

    mu0 = [xu; F xu + f],  Phi = [[P, P F'], [F P, F P F' + Sx]],  P = alpha 1,  Sx = SX 1

Both are mixed as normal-inverse-Wishart, and conditioned on [x; u]:

    mu'  = (N mu + m mu0) / (N + m)
    Sig' = (N Sig + Phi + N m / (N + m) (mu - mu0)(mu - mu0)') / (N + n0)
    Fm   = (Sig'_xu,xu^-1 Sig'_xu,x')' ;  fv = mu'_x' - Fm mu'_xu
"""

from dataclasses import dataclass, field

import numpy as np

from isthmus.adapt.mpc.affine import Affine, Transition, Units
from isthmus.core import Float, PolicyState
from isthmus.core.linear import solve

RIDGE = 1e-5
"""Added to Sig'_xu,xu before it is inverted."""


@dataclass(frozen=True)
class GaussianSettings:
    """How much the robot's own motion counts against the simulator."""

    forget: float = 0.5  # g
    evidence: float = 3.0  # N
    mean_strength: float = 1.0  # m
    covariance_strength: float = 1.0  # n0
    alpha: float = 100.0
    """In squared standard deviations of a step: how far about the robot the simulator's slopes are taken to hold."""
    noise: float = 1e-2
    """SX, in squared standard deviations of a step."""


@dataclass(frozen=True)
class GaussianDynamics:
    """Running Gaussians, each of one robot."""

    settings: GaussianSettings = field(default_factory=GaussianSettings)

    def initial_state(self, n: int, units: Units) -> PolicyState:
        """No evidence."""
        size = 2 * len(units.targets) + units.spec.action_size
        return {"mean": np.zeros((n, size)), "square": np.zeros((n, size, size))}

    def __call__(self, prior: Affine, last: Transition, state: PolicyState) -> tuple[Affine, PolicyState]:
        """The dynamics of the robots near their last step, or the simulator's before it, and the state after it."""
        mean, square = self._observed(last, state)
        adapted = self._mixed(prior, last, mean, square)
        there = last.there[:, None]
        mixed = Affine(
            np.where(there[..., None], adapted.A, prior.A),
            np.where(there[..., None], adapted.B, prior.B),
            np.where(there, adapted.c, prior.c),
        )
        return mixed, {"mean": mean, "square": square}

    def _observed(self, last: Transition, state: PolicyState) -> tuple[Float, Float]:
        """The running mean of z (n, D) and of z z' (n, D, D), after another step."""
        z = np.concatenate((last.before, last.control, last.after), axis=1)
        g, square, first = self.settings.forget, z[:, :, None] * z[:, None, :], last.first[:, None]
        return (
            np.where(first, z, (1 - g) * state["mean"] + g * z),
            np.where(first[..., None], square, (1 - g) * state["square"] + g * square),
        )

    def _mixed(self, prior: Affine, last: Transition, mu: Float, square: Float) -> Affine:
        one = self.settings
        N, m, n0 = one.evidence, one.mean_strength, one.covariance_strength
        sigma = square - mu[:, :, None] * mu[:, None, :]
        xu = np.concatenate((last.before, last.control), axis=1)
        F = np.concatenate((prior.A, prior.B), axis=2)
        mu0 = np.concatenate((xu, prior(last.before, last.control)), axis=1)
        away = mu - mu0
        mixed_mu = (N * mu + m * mu0) / (N + m)
        mixed = N * sigma + _phi(F, one.alpha, one.noise) + N * m / (N + m) * away[:, :, None] * away[:, None, :]
        return _conditioned(mixed_mu, mixed / (N + n0), prior.c.shape[1])


def _phi(F: Float, alpha: float, noise: float) -> Float:
    """Phi (n, D, D) of F (n, d, d + act)."""
    n, d, inputs = F.shape
    P = np.broadcast_to(alpha * np.eye(inputs), (n, inputs, inputs))
    Ft = F.transpose(0, 2, 1)
    return np.concatenate(
        (
            np.concatenate((P, alpha * Ft), axis=2),
            np.concatenate((alpha * F, alpha * F @ Ft + noise * np.eye(d)), axis=2),
        ),
        axis=1,
    )


def _conditioned(mu: Float, sigma: Float, d: int) -> Affine:
    """What follows of [x; u], under Gaussians of mean (n, D) and covariance (n, D, D)."""
    inputs = mu.shape[1] - d
    known = sigma[:, :inputs, :inputs] + RIDGE * np.eye(inputs)
    Fm = solve(known, sigma[:, :inputs, inputs:]).transpose(0, 2, 1)
    fv = mu[:, inputs:] - np.einsum("ndi,ni->nd", Fm, mu[:, :inputs])
    return Affine(Fm[:, :, :d], Fm[:, :, d:], fv)
