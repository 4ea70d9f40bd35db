"""Observation statistics that a policy was trained with: VecNormalize of Stable-Baselines3."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import read_regular
from isthmus.io.bounded import Unreadable
from isthmus.policies.pickles import Plain, read_plain

LARGEST = 16 << 20
"""Bytes of a file that are read at most."""


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
    try:
        saved = read_plain(read_regular(path, limit=LARGEST, follow=True))
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    except (Unreadable, MemoryError) as error:
        raise Problem(f"{path} is refused as a VecNormalize file: {error}") from error
    seen: object = saved.state.get("obs_rms") if isinstance(saved, Plain) else None
    if not isinstance(saved, Plain) or not isinstance(seen, Plain):
        raise Problem(f"{path} does not hold the observation statistics of a VecNormalize: it has no obs_rms")
    mean, var = (_vector(seen.state, name, path) for name in ("mean", "var"))
    clip, epsilon = (_number(saved.state, name, path) for name in ("clip_obs", "epsilon"))
    if mean.shape != var.shape or not (np.isfinite(mean).all() and np.isfinite(var).all()):
        raise Problem(f"{path} holds {len(mean)} means and {len(var)} variances: expected as many finite numbers")
    if (var < 0).any() or not clip > 0 or not epsilon >= 0 or not (var + epsilon > 0).all():
        raise Problem(f"{path} holds a negative or zero variance or clip: it is damaged")
    normalises = saved.state.get("norm_obs", True) is not False
    return Normaliser(mean, np.sqrt(var + epsilon), clip) if normalises else Normaliser.identity(len(mean))


def _vector(state: dict[Any, Any], name: str, path: Path) -> Float:
    found: object = state.get(name)
    if not isinstance(found, np.ndarray) or found.ndim != 1 or found.dtype.kind not in "fiu":
        raise Problem(f"{path} does not hold the observation statistics of a VecNormalize: its {name} is not a vector")
    return np.asarray(found, np.float64)  # pyright: ignore[reportUnknownArgumentType]


def _number(state: dict[Any, Any], name: str, path: Path) -> float:
    found: object = state.get(name)
    try:
        if isinstance(found, int | float | np.number) and not isinstance(found, np.complexfloating):
            return float(found)  # pyright: ignore[reportUnknownArgumentType]
    except OverflowError:
        pass
    raise Problem(f"{path} does not hold the observation statistics of a VecNormalize: its {name} is not a number")
