"""Train an expert and write down how it was made."""

import dataclasses
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem, stream
from isthmus.data import load_arrays, save_arrays, write_json
from isthmus.experts.assess import assess
from isthmus.experts.recipes import RECIPES
from isthmus.experts.settings import TrainSettings
from isthmus.gaps import Gap
from isthmus.tasks import load_task

ALGORITHMS = {"ppo": "PPO (stable-baselines3)", "trpo": "TRPO (sb3-contrib)"}
TRAINING = "training"
PACKAGES = ("isthmus", "mujoco", "gymnasium", "numpy", "torch", "stable-baselines3", "sb3-contrib")

SAVE_SECONDS = 300.0
"""Between two saves of an expert in training."""


def make_expert(
    task_name: str,
    path: Path,
    settings: TrainSettings,
    seed: int,
    episodes: int,
    report: Callable[[int, float], None],
    *,
    resume: bool = False,
) -> dict[str, Any]:
    """Train an expert, write it to `path` and its provenance beside it; returns the provenance.

    Both are written every few minutes with all that is needed to go on, so that a training that is cut short leaves
    the expert it had come to, and `resume` takes it up again.
    """
    task = load_task(task_name)
    if path.suffix != ".npz":
        raise Problem(f"a policy file ends in .npz, got {path}")
    if path.exists() and not resume:
        raise Problem(f"{path} exists already: go on with it (--resume), give another file, or remove it")
    try:
        from isthmus.experts.train import Snapshot, train_expert  # noqa: PLC0415 - torch and SB3 only where they are used
    except ModuleNotFoundError as error:
        raise Problem("training needs Stable-Baselines3: pip install 'isthmus[train]'") from error
    identity = {"task": task_name, "seed": seed, "settings": dataclasses.asdict(settings)}
    unfinished = path.with_suffix(".training.npz")
    done, spent, arrays = _so_far(unfinished, identity) if resume else (0, 0.0, None)
    began = saved = time.perf_counter()

    def save(snapshot: Snapshot) -> dict[str, Any]:
        seconds = spent + time.perf_counter() - began
        policy = snapshot.policy()
        made = {
            "task": task_name,
            "algorithm": f"{ALGORITHMS[settings.algorithm]} on Gym's own reward, control penalty included",
            "command": _command(task_name, settings, seed),
            "seed": seed,
            "settings": dataclasses.asdict(settings),
            "steps": snapshot.steps,
            "seconds": round(seconds, 1),
            "steps_per_second": round(snapshot.steps / seconds),
            "evaluation": {"episodes": episodes}
            | assess(task, policy, Gap(), episodes, stream(seed, "expert", "evaluate")),
            "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        }
        policy.save(path)
        write_json(path.with_suffix(".json"), made)
        progress = {"kind": TRAINING, "steps": snapshot.steps, "seconds": seconds, "identity": identity}
        save_arrays(unfinished, snapshot.arrays(), progress)
        return made

    def watch(snapshot: Snapshot) -> None:
        nonlocal saved
        report(snapshot.steps, snapshot.recent)
        if time.perf_counter() - saved > SAVE_SECONDS:
            save(snapshot)
            saved = time.perf_counter()

    made = save(train_expert(task, settings, seed, watch, done, arrays))
    unfinished.unlink()
    return made


def _so_far(path: Path, identity: dict[str, Any]) -> tuple[int, float, dict[str, np.ndarray]]:
    """Steps, seconds and all that was learned in an unfinished training."""
    arrays, progress = load_arrays(path, TRAINING)
    if progress["identity"] != identity:
        raise Problem(f"{path} is a training with another task, seed or settings: say the same again, or begin anew")
    return progress["steps"], progress["seconds"], arrays


def _command(task_name: str, settings: TrainSettings, seed: int) -> str:
    recipe = RECIPES.get(task_name, TrainSettings())
    options = "".join(
        f" --{field.name.replace('_', '-')} {getattr(settings, field.name)}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != getattr(recipe, field.name)
    )
    return f"isthmus expert train {task_name} --seed {seed}{options} --out {task_name}.npz"
