"""Train an expert and write down how it was made."""

import dataclasses
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from isthmus.core import Problem, stream
from isthmus.data import write_json
from isthmus.experts.assess import assess
from isthmus.experts.recipes import RECIPES
from isthmus.experts.settings import TrainSettings
from isthmus.gaps import Gap
from isthmus.policies import NetworkPolicy
from isthmus.tasks import load_task

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
) -> dict[str, Any]:
    """Train an expert, write it to `path` and its provenance beside it; returns the provenance.

    Both are written every few minutes, so that a training that is cut short leaves the expert it had come to.
    """
    task = load_task(task_name)
    if path.suffix != ".npz":
        raise Problem(f"a policy file ends in .npz, got {path}")
    if path.exists():
        raise Problem(f"{path} exists already: give another file, or remove it")
    try:
        from isthmus.experts.train import train_expert  # noqa: PLC0415 - torch and SB3 only where they are used
    except ModuleNotFoundError as error:
        raise Problem("training needs Stable-Baselines3: pip install 'isthmus[train]'") from error
    began = saved = time.perf_counter()

    def save(policy: NetworkPolicy, steps: int) -> dict[str, Any]:
        seconds = time.perf_counter() - began
        made = {
            "task": task_name,
            "algorithm": "TRPO (sb3-contrib) on Gym's own reward, control penalty included",
            "command": _command(task_name, settings, seed),
            "seed": seed,
            "settings": dataclasses.asdict(settings),
            "steps": steps,
            "seconds": round(seconds, 1),
            "steps_per_second": round(steps / seconds),
            "evaluation": {"episodes": episodes}
            | assess(task, policy, Gap(), episodes, stream(seed, "expert", "evaluate")),
            "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        }
        policy.save(path)
        write_json(path.with_suffix(".json"), made)
        return made

    def watch(steps: int, recent: float, policy: Callable[[], NetworkPolicy]) -> None:
        nonlocal saved
        report(steps, recent)
        if time.perf_counter() - saved > SAVE_SECONDS:
            save(policy(), steps)
            saved = time.perf_counter()

    return save(train_expert(task, settings, seed, watch), settings.steps)


def _command(task_name: str, settings: TrainSettings, seed: int) -> str:
    recipe = RECIPES.get(task_name, TrainSettings())
    options = "".join(
        f" --{field.name.replace('_', '-')} {getattr(settings, field.name)}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != getattr(recipe, field.name)
    )
    return f"isthmus expert train {task_name} --seed {seed}{options} --out {task_name}.npz"
