"""Episodes on disk: one file each."""

from pathlib import Path

import numpy as np

from isthmus.core import Episode, Problem, Trajectory
from isthmus.core.trajectory import RewardedTrajectory, rewarded
from isthmus.io.files import load_arrays, save_arrays

KIND = "episode"
STEPPED = ("commands", "applied", "source", "wanted")
"""Arrays with a row a step; observations have one more."""


def save_episode(path: Path, episode: Episode) -> None:
    """Write one episode: its trajectories one after another, with their lengths."""
    arrays = {name: np.concatenate([getattr(one, name) for one in episode]) for name in ("observations", *STEPPED)}
    arrays["lengths"] = np.array([len(one) for one in episode])
    arrays["contexts"] = np.array([one.context for one in episode])
    seen = [(one.rewards, one.ended) for one in episode if isinstance(one, RewardedTrajectory)]
    if seen:
        arrays |= {"rewards": np.concatenate([row for row, _ in seen]), "ended": np.array([end for _, end in seen])}
    save_arrays(path, arrays, {"kind": KIND})


def load_episode(path: Path) -> Episode:
    """Read one episode, checked as if it had just been made."""
    arrays, _ = load_arrays(path, KIND)
    try:
        ends = np.cumsum(arrays["lengths"])
        seen = np.split(arrays["observations"], (ends + np.arange(1, len(ends) + 1))[:-1])
        stepped = {name: np.split(arrays[name], ends[:-1]) for name in STEPPED}
        runs = [
            Trajectory(seen[i], **{name: parts[i] for name, parts in stepped.items()}, context=int(context))
            for i, (context, _) in enumerate(zip(arrays["contexts"], ends, strict=True))
        ]
        if "rewards" not in arrays:
            return runs
        rewards = np.split(arrays["rewards"], ends[:-1])
        return [rewarded(run, row, bool(end)) for run, row, end in zip(runs, rewards, arrays["ended"], strict=True)]
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise Problem(f"{path} is not an {KIND} file, or it is damaged ({error})") from error
