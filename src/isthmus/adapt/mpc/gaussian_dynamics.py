"""Gaussian dynamics adaptation (Fu, Levine, Abbeel 2015): a running Gaussian over z = [x; u; x'], led by the simulator.

    mu <- (1-g) mu + g z ;  S <- (1-g) S + g z z' ;  Sig = S - mu mu'

The simulator's own linearisation x' = F [x; u] + f is the prior, a Gaussian about where the robot is:

    mu0 = [xu; F xu + f],  Phi = [[P, P F'], [F P, F P F' + Sx]],  P = alpha 1,  Sx = SX 1

Both are mixed as normal-inverse-Wishart, and conditioned on [x; u]:

    mu'  = (N mu + m mu0) / (N + m)
    Sig' = (N Sig + Phi + N m / (N + m) (mu - mu0)(mu - mu0)') / (N + n0)
    Fm   = (Sig'_xu,xu^-1 Sig'_xu,x')' ;  fv = mu'_x' - Fm mu'_xu
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.mpc.affine import Affine, Transition
from isthmus.core import Float
from isthmus.core.linear import solve

RIDGE = 1e-5
"""Added to Sig'_xu,xu before it is inverted."""


@dataclass(frozen=True)
class GaussianSettings:
    """How much the robot's own motion counts against the simulator."""

    forget: float = 0.5
    """g."""
    evidence: float = 3.0
    """N."""
    mean_strength: float = 1.0
    """m."""
    covariance_strength: float = 1.0
    """n0."""
    alpha: float = 100.0
    """In squared spreads of a step: how far about the robot the simulator's slopes are taken to hold."""
    noise: float = 1e-2
    """SX, in squared spreads of a step."""


class GaussianDynamics:
    """The running Gaussians of n worlds."""

    def __init__(self, settings: GaussianSettings | None = None) -> None:
        """Start with no evidence."""
        self._settings = settings or GaussianSettings()
        self._mean: Float = np.empty((0, 0))
        self._square: Float = np.empty((0, 0, 0))

    def __call__(self, prior: Affine, last: Transition) -> Affine:
        """The dynamics of the robot, near its last step; the simulator's own where there has been none."""
        z = np.concatenate((last.before, last.control, last.after), axis=1)
        self._observe(z, last.first)
        adapted = self._mixed(prior, last)
        there = last.there[:, None]
        return Affine(
            np.where(there[..., None], adapted.A, prior.A),
            np.where(there[..., None], adapted.B, prior.B),
            np.where(there, adapted.c, prior.c),
        )

    def _observe(self, z: Float, first: np.ndarray) -> None:
        g, square = self._settings.forget, z[:, :, None] * z[:, None, :]
        if self._mean.shape != z.shape:
            self._mean, self._square = z, square
        first = first[:, None]
        self._mean = np.where(first, z, (1 - g) * self._mean + g * z)
        self._square = np.where(first[..., None], square, (1 - g) * self._square + g * square)

    def _mixed(self, prior: Affine, last: Transition) -> Affine:
        one = self._settings
        N, m, n0 = one.evidence, one.mean_strength, one.covariance_strength
        mu = self._mean
        sigma = self._square - mu[:, :, None] * mu[:, None, :]
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
