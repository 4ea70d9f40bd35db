"""Affine dynamics of n robots: x' = A x + B u + c, with their own units."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int, WorldSpec


@dataclass(frozen=True)
class Units:
    """States x are an observation's targets in standard deviations of a step; controls u are actions in half ranges."""

    spec: WorldSpec
    scale: Float
    """Of the targets (d,)."""

    @property
    def targets(self) -> Int:
        """The observation dimensions that make up the state."""
        return self.spec.targets

    def state(self, observations: Float) -> Float:
        """States (..., d) of observations (..., obs)."""
        return observations[..., self.targets] / self.scale

    def observation(self, states: Float, like: Float) -> Float:
        """Observations (n, obs) of states (n, d); what is no target is taken from `like` (n, obs)."""
        out = like.copy()
        out[:, self.targets] = states * self.scale
        return out

    def control(self, actions: Float) -> Float:
        """Controls (..., act) of actions (..., act)."""
        return (actions - self._middle) / self.spec.half_range

    def action(self, controls: Float) -> Float:
        """Actions (..., act) of controls (..., act)."""
        return self._middle + self.spec.half_range * controls

    @property
    def _middle(self) -> Float:
        return (self.spec.action_low + self.spec.action_high) / 2


@dataclass(frozen=True)
class Affine:
    """x' = A x + B u + c in n worlds."""

    A: Float  # (n, d, d)
    B: Float  # (n, d, act)
    c: Float  # (n, d)

    def __call__(self, states: Float, controls: Float) -> Float:
        """The next states (n, d)."""
        return np.einsum("nde,ne->nd", self.A, states) + np.einsum("nda,na->nd", self.B, controls) + self.c


@dataclass(frozen=True)
class Transition:
    """The last step of n worlds, as far as it is known."""

    before: Float
    """State (n, d)."""
    control: Float  # (n, act)
    after: Float
    """State (n, d)."""
    expected: Float
    """The state that the simulator expected (n, d)."""
    there: np.ndarray
    """Where there has been a step in this episode (n,)."""
    first: np.ndarray
    """Where it is the first one that is known of it (n,)."""
