"""Whether logs cover what a policy does: learned from elsewhere, nothing is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Episode, Float, WorldSpec

MARGIN = 0.1
"""Share of the recorded range that may be left."""
USUAL = 0.95
"""Quantile of how far a recorded step is from the nearest one of another recording: what is farther is not covered."""
ROWS = 2000
"""Steps that are compared, at most."""


@dataclass(frozen=True)
class Coverage:
    """How much of what a policy does was recorded."""

    share: float
    """Of its steps that have recorded ones nearby."""
    outside: dict[str, float]
    """Share of the steps outside the recorded range, by the observation or action, where there are any."""

    def warnings(self) -> list[str]:
        """A sentence for each thing that the logs do not cover."""
        said: list[str] = []
        if self.share < 0.9:
            said.append(
                f"{1 - self.share:.0%} of the policy's steps are far from anything in the logs: what is predicted "
                "there is the simulator's guess"
            )
        worst = sorted(self.outside.items(), key=lambda one: -one[1])[:3]
        said += [
            f"{name} lies outside the recorded range in {share:.0%} of the policy's steps"
            for name, share in worst
            if share > 0.05
        ]
        return said


def coverage(spec: WorldSpec, episodes: Sequence[Episode], observations: Float, actions: Float) -> Coverage:
    """Compare steps (n, obs) and (n, act) of a policy with the recorded ones."""
    runs = [one for episode in episodes for one in episode]
    seen = np.hstack(
        (
            np.concatenate([one.observations[:-1] for one in runs])[:, spec.targets],
            np.concatenate([one.applied for one in runs]),
        )
    )
    done = np.hstack((observations[:, spec.targets], spec.clip(actions)))
    seen_names = [spec.observation_names[int(one)] for one in spec.targets]
    names = [*seen_names, *(f"action {one}" for one in spec.action_names)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    margin = MARGIN * (high - low)
    beyond = ((done < low - margin) | (done > high + margin)).mean(axis=0)
    outside = {name: float(share) for name, share in zip(names, beyond, strict=True) if share > 0}
    std = seen.std(axis=0)
    scale = np.where(std > 1e-9, std, 1.0)
    near = _nearest(_thinned(done) / scale, _thinned(seen) / scale)
    number = np.repeat(np.arange(len(runs)), [len(one) for one in runs])
    first = number % 2 == 0 if len(runs) > 1 else np.arange(len(seen)) < len(seen) // 2
    apart = _nearest(_thinned(seen[~first]) / scale, _thinned(seen[first]) / scale)
    return Coverage(float(np.mean(near <= max(np.quantile(apart, USUAL), 1e-9))), outside)


def _thinned(rows: Float) -> Float:
    return rows[np.unique(np.linspace(0, len(rows) - 1, ROWS).astype(np.int64))]


def _nearest(rows: Float, among: Float) -> Float:
    """The distance of each row (n, d) to the nearest of others (m, d)."""
    square = np.square(rows).sum(axis=1)[:, None] + np.square(among).sum(axis=1) - 2 * rows @ among.T
    return np.sqrt(np.maximum(square.min(axis=1), 0.0))
