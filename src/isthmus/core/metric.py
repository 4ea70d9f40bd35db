"""What it costs to miss a wanted observation: not every part of it matters alike."""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core.arrays import Bool, Float, Int

ROOT_WEIGHT = 5.0
"""How many times more errors count in what no actuator moves, where weights are on the root."""


@dataclass(frozen=True)
class Metric:
    """A squared length of errors: |root^T error / scale|^2."""

    targets: Int
    """Observation dimensions that count."""
    scale: Float
    """How much each of them changes in one step (d,)."""
    root: Float
    """A root of the matrix that weighs errors, so that root root^T is that matrix (d, d)."""
    effort: float = 0.0
    """What a squared half range of an actuator costs, on the same scale."""

    @staticmethod
    def even(targets: Int, scale: Float) -> "Metric":
        """All targets count alike, each in its own standard deviations."""
        return Metric(targets, scale, np.eye(len(targets)))

    def evened(self) -> "Metric":
        """The same on the whole, but all targets count alike."""
        d = len(self.targets)
        return replace(self, root=np.eye(d) * np.sqrt(np.square(self.root).sum() / d))

    def stressing(self, which: Bool, times: float) -> "Metric":
        """The same, but errors in the targets `which` (d,) count so many times more."""
        return replace(self, root=np.where(which, times, 1.0)[:, None] * self.root)

    def scaled(self, errors: Float) -> Float:
        """The targets' part of errors (..., obs), in standard deviations (..., d)."""
        return errors[..., self.targets] / self.scale

    def weigh(self, errors: Float) -> Float:
        """Vectors (..., d) whose squared length is what errors (..., obs) cost."""
        return self.scaled(errors) @ self.root
