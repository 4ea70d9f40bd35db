"""The simulator to first order where the robot is: what follows from states and controls, and what cost is made of."""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.method import SourceCost
from isthmus.adapt.mpc.affine import Affine, Units
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
