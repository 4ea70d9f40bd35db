"""Observation statistics that a policy was trained with: VecNormalize of Stable-Baselines3."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem
from isthmus.policies.pickles import read_plain


@dataclass(frozen=True)
class Normaliser:
    """(observation - mean) / scale, clipped."""

    mean: Float
    scale: Float
    clip: float

    def __call__(self, observations: Float) -> Float:
        """Normalised observations (n, obs)."""
        return np.clip((observations - self.mean) / self.scale, -self.clip, self.clip)

    @staticmethod
    def identity(size: int) -> "Normaliser":
        """Changes nothing."""
        return Normaliser(np.zeros(size), np.ones(size), np.inf)


def read_vec_normalize(path: Path) -> Normaliser:
    """The statistics in a file that `VecNormalize.save` wrote, read without running any of it."""
    saved = read_plain(path, "VecNormalize")
    try:
        seen = saved.state["obs_rms"]
        mean, var = (np.asarray(seen.state[name], dtype=np.float64) for name in ("mean", "var"))
        clip, epsilon = float(saved.state["clip_obs"]), float(saved.state["epsilon"])
        shown = bool(saved.state.get("norm_obs", True))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Problem(f"{path} does not hold the observation statistics of a VecNormalize ({error!r})") from error
    if mean.ndim != 1 or mean.shape != var.shape or not (np.isfinite(mean).all() and np.isfinite(var).all()):
        raise Problem(
            f"{path} holds observation statistics of shape {mean.shape} and {var.shape}: expected two vectors"
        )
    if (var < 0).any() or not clip > 0 or not epsilon >= 0:
        raise Problem(f"{path} holds a negative variance or clip: it is damaged")
    return Normaliser(mean, np.sqrt(var + epsilon), clip) if shown else Normaliser.identity(len(mean))
