"""What a simulator gets wrong in one step, learned from few steps on the target.

    o' = T_src(o, a) + r(o, a, T_src(o, a) - o)

The step that the simulator expects is an input: whether a foot is on the ground, and how hard it is pushed, shows in it
and hardly in the observation. r is ridge regression on random Fourier features and the inputs themselves, its strength
found on held-out episodes, and zero for what it does not predict better there than nothing would. It fades away from
what was recorded: where nothing is known, the simulator stays what it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Episode, Float, History, Int, Simulator
from isthmus.core.ridge import NormalEquations, held_out_residuals
from isthmus.core.scale import SMALLEST_SCALE

WAVES = 300
"""Random Fourier features."""
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)
"""Of the ridge, for each example."""
WORTHWHILE = 0.95
"""Share of an error that may be left at most; what is predicted no better than that is left alone."""
FOLDS = 5
"""Parts that the episodes are held out in, one after the other."""
CHUNK = 1024
"""Predictions made at once at most."""


@dataclass(frozen=True)
class Steps:
    """Steps on the target, beside what the simulator makes of them."""

    observations: Float  # (m, obs)
    applied: Float  # (m, act)
    expected: Float
    """What the simulator expects to see next (m, obs)."""
    reached: Float
    """What was seen next (m, obs)."""
    episodes: Int
    """Episode each step is from (m,)."""

    @staticmethod
    def of(episodes: Sequence[Episode], simulator: Simulator) -> "Steps":
        """All steps of `episodes`."""
        runs = [(number, one) for number, episode in enumerate(episodes) for one in episode]
        seen = np.concatenate([one.observations[one.context : -1] for _, one in runs])
        applied = np.concatenate([one.applied[one.context :] for _, one in runs])
        reached = np.concatenate([one.observations[one.context + 1 :] for _, one in runs])
        numbers = np.concatenate([np.full(one.samples, number) for number, one in runs])
        expected = np.empty_like(seen)
        for begin in range(0, len(seen), CHUNK):
            rows = np.minimum(np.arange(begin, begin + CHUNK), len(seen) - 1)  # filled up: one size for all
            expected[rows] = simulator.predict(History.of(seen[rows]), applied[rows])
        return Steps(seen, applied, expected, reached, numbers)


@dataclass(frozen=True)
class Residual:
    """r, for the targets of an observation."""

    targets: Int
    mean: Float
    """Of the inputs (k,)."""
    scale: Float
    """Their standard deviation (k,)."""
    low: Float
    """Smallest standardised input in the data (k,)."""
    high: Float
    """The largest (k,)."""
    waves: Float
    """Directions of the Fourier features (k, f)."""
    phases: Float  # (f,)
    weights: Float  # (1 + k + f, targets)

    def __call__(self, observations: Float, applied: Float, expected: Float) -> Float:
        """What is seen next (n, obs) where the simulator, at observations (n, obs), expects `expected` (n, obs)."""
        corrected = expected.copy()
        corrected[:, self.targets] += self.features(observations, applied, expected) @ self.weights
        return corrected

    def features(self, observations: Float, applied: Float, expected: Float) -> Float:
        """What the error is linear in (n, 1 + k + f)."""
        inputs = (_inputs(observations, applied, expected, self.targets) - self.mean) / self.scale
        inside = np.minimum(np.maximum(inputs, self.low), self.high)
        known = np.exp(-np.square(inputs - inside).sum(axis=1, keepdims=True) / 2)
        return known * np.hstack((np.ones_like(known), inside, np.cos(inside @ self.waves + self.phases)))


def fit_residual(steps: Steps, targets: Int, rng: np.random.Generator) -> Residual:
    """Learn the simulator's error in `targets`."""
    inputs = _inputs(steps.observations, steps.applied, steps.expected, targets)
    mean, std, width = inputs.mean(axis=0), inputs.std(axis=0), inputs.shape[1]
    scale = np.where(std > SMALLEST_SCALE * (1 + np.abs(mean)), std, 1.0)
    errors = (steps.reached - steps.expected)[:, targets]
    blank = Residual(
        targets=targets,
        mean=mean,
        scale=scale,
        low=(inputs.min(axis=0) - mean) / scale,
        high=(inputs.max(axis=0) - mean) / scale,
        waves=rng.standard_normal((width, WAVES)) / np.sqrt(width),
        phases=rng.uniform(0, 2 * np.pi, WAVES),
        weights=np.zeros((1 + width + WAVES, len(targets))),
    )
    features = blank.features(steps.observations, steps.applied, steps.expected)
    residuals = held_out_residuals(features, errors, steps.episodes % FOLDS, STRENGTHS, per_row=True)
    whole = np.square(errors).sum(axis=0)
    left = np.square(residuals).sum(axis=1) / np.where(whole > 0, whole, 1.0) + (whole == 0)  # (strengths, targets)
    best, share = left.argmin(axis=0), left.min(axis=0)
    equations = NormalEquations.of(features, errors)
    weights = np.stack([equations.ridge(strength * len(features)) for strength in STRENGTHS])
    chosen = weights[best, :, np.arange(len(targets))].T
    return replace(blank, weights=np.where(share < WORTHWHILE, chosen, 0.0))


def _inputs(observations: Float, applied: Float, expected: Float, targets: Int) -> Float:
    return np.hstack((observations[:, targets], applied, (expected - observations)[:, targets]))
