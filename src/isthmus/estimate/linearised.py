"""A simulator's step around a reference: where it leads, and its derivatives by finite differences."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Simulator
from isthmus.sim.sensitivity import HasCoarse, for_robots, predict_in_chunks

NUDGE = 1e-3
"""Size of a finite difference, in units of the observation: smaller ones see a contact as stiffer than it is."""
LARGEST_CHANGE = 1e3
"""Derivatives are cut off at this: a finite difference across the moment of a contact says nothing."""


@dataclass(frozen=True)
class Linearised:
    """What a simulator does around a reference."""

    reference: Float  # (n, obs)
    ahead: Float
    """A step later (n, obs)."""
    change: Float
    """d ahead / d reference (n, obs, obs)."""


@dataclass(frozen=True)
class SimulatorPair:
    """A simulator, and the coarse one of the same robot that is quicker; the same again where there is none."""

    exact: Simulator
    coarse: Simulator

    @staticmethod
    def of(simulator: Simulator) -> "SimulatorPair":
        """With the coarse one that `simulator` may have."""
        return SimulatorPair(simulator, (simulator.coarse if isinstance(simulator, HasCoarse) else None) or simulator)

    @property
    def for_one(self) -> "SimulatorPair":
        """Those in which to predict for a single robot."""
        return SimulatorPair.of(for_robots(self.exact, 1))

    def ahead(self, now: Float, given: Float, beside: Float) -> tuple[Float, Float]:
        """A step after `now` (n, obs), and after what is `beside` it (n, k, obs), with actions `given` (n, act).

        What is beside is simulated coarsely, and moved by what that is wrong by.
        """
        n, count, size = beside.shape
        tried = np.concatenate((now[:, None], beside), axis=1).reshape(-1, size)
        seen = predict_in_chunks(self.coarse, tried, np.repeat(given, count + 1, axis=0)).reshape(n, count + 1, size)
        ahead = seen[:, 0] if self.coarse is self.exact else predict_in_chunks(self.exact, now, given)
        return ahead, seen[:, 1:] + (ahead - seen[:, 0])[:, None]

    def linearised(self, now: Float, given: Float) -> Linearised:
        """What happens from observations `now` (n, obs) with actions `given` (n, act), and around them."""
        ahead, beside = self.ahead(now, given, now[:, None] + NUDGE * np.eye(now.shape[1]))
        slopes = (beside - ahead[:, None]).transpose(0, 2, 1) / NUDGE
        return Linearised(now, ahead, np.clip(slopes, -LARGEST_CHANGE, LARGEST_CHANGE))
