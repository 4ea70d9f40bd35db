"""Train an expert and write down how it was made."""

import dataclasses
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import AnyPolicy, Problem, stream
from isthmus.core.command import command_of
from isthmus.experts.assess import assess, assess_randomised
from isthmus.experts.settings import TrainSettings, recipe_of
from isthmus.experts.shipped import provenance
from isthmus.experts.snapshot import Snapshot
from isthmus.gaps import Gap, Ranges
from isthmus.io import from_json, load_arrays, save_arrays, write_json
from isthmus.policies.network import read_network
from isthmus.robots import load_task
from isthmus.robots.equipment import base_of
from isthmus.tasks import Task

ALGORITHMS = {
    "ppo": "PPO (stable-baselines3)",
    "trpo": "TRPO (sb3-contrib)",
    "gradient": "the derivatives of the simulator, backward in time,",
}
TRAINING = "training"
PROGRESS = ("steps", "seconds", "stages", "start")
PACKAGES = ("isthmus", "mujoco", "gymnasium", "numpy", "torch", "stable-baselines3", "sb3-contrib")

Stage = dict[str, Any]
"""Settings that a training had for a while: `from` which step on, by which `command`."""

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
    start: Path | None = None,
) -> dict[str, Any]:
    """Train an expert, write it to `path` and its provenance beside it; returns the provenance.

    Both are written every few minutes with all that is needed to go on, so that a training that is cut short leaves
    the expert it had come to, and `resume` takes it up again, perhaps with other settings: those are a new stage.
    """
    task = load_task(task_name)
    if path.suffix != ".npz":
        raise Problem(f"a policy file ends in .npz, got {path}")
    if path.exists() and not resume:
        raise Problem(f"{path} exists already: go on with it (--resume), give another file, or remove it")
    try:
        from isthmus.experts.gradient import train_by_gradient  # noqa: PLC0415 - torch and SB3 only where they are used
        from isthmus.experts.train import train_expert  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Problem("training needs Stable-Baselines3: pip install 'isthmus[train]'") from error
    training = path.with_suffix(".training.npz")
    so_far = _so_far(training, task_name, seed) if resume else _SoFar(start=provenance(start) if start else None)
    stages = so_far.stages
    command = _command(task_name, settings, seed, start)
    if start and resume:
        raise Problem("--start begins a new training: leave out --resume")
    if not stages or stages[-1]["settings"] != dataclasses.asdict(settings):
        command += " --resume" if stages else ""
        stages.append({"from": so_far.steps, "command": command, "settings": dataclasses.asdict(settings)})
    network = read_network(start) if start else None
    if settings.algorithm == "gradient" and not (start or resume):
        raise Problem("the gradient needs a policy to begin with: give one with --start")
    began = saved = time.perf_counter()

    def save(snapshot: Snapshot) -> dict[str, Any]:
        seconds = so_far.seconds + time.perf_counter() - began
        policy = snapshot.policy()
        made = {
            "task": task_name,
            "algorithm": f"{ALGORITHMS[settings.algorithm]} on Gym's own reward, control penalty included",
            "command": " && ".join(stage["command"] for stage in stages),
            "seed": seed,
            "stages": stages,
            "start": so_far.start,
            "steps": snapshot.steps,
            "seconds": round(seconds, 1),
            "steps_per_second": round(snapshot.steps / seconds),
            "evaluation": _evaluation(task, policy, settings, episodes, seed),
            "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        }
        policy.save(path)
        write_json(path.with_suffix(".json"), made)
        progress = _SoFar(snapshot.steps, seconds, stages, so_far.start)
        save_arrays(
            training,
            snapshot.arrays(),
            {"kind": TRAINING, "task": task_name, "seed": seed} | {name: getattr(progress, name) for name in PROGRESS},
        )
        return made

    def watch(snapshot: Snapshot) -> None:
        nonlocal saved
        report(snapshot.steps, snapshot.recent)
        if time.perf_counter() - saved > SAVE_SECONDS:
            save(snapshot)
            saved = time.perf_counter()

    train = train_by_gradient if settings.algorithm == "gradient" else train_expert
    return save(train(task, settings, seed, watch, start=network, done=so_far.steps, arrays=so_far.arrays))


def _evaluation(task: Task, policy: AnyPolicy, settings: TrainSettings, episodes: int, seed: int) -> dict[str, Any]:
    """In the source simulator; and under the dynamics it was trained for, where those were randomised."""
    figures = {"episodes": episodes} | assess(task, policy, Gap(), episodes, stream(seed, "expert", "evaluate"))
    if not settings.randomise:
        return figures
    ranges, rng = Ranges.parse(settings.randomise), stream(seed, "expert", "evaluate", "randomised")
    return figures | {"randomised": assess_randomised(task, policy, ranges, episodes, rng)}


@dataclass(frozen=True)
class _SoFar:
    """A training that was cut short, or nothing."""

    steps: int = 0
    seconds: float = 0.0
    stages: list[Stage] = field(default_factory=list[Stage])
    start: dict[str, Any] | None = None
    """How the policy was made that it began with."""
    arrays: dict[str, np.ndarray] | None = None


def _so_far(path: Path, task: str, seed: int) -> _SoFar:
    arrays, progress = load_arrays(path, TRAINING)
    try:
        if (progress["task"], progress["seed"]) != (task, seed):
            begun = f"{str(progress['task'])[:40]} from seed {str(progress['seed'])[:20]}"
            raise Problem(f"{path} is a training of {begun}: begin a new one")
        known = {name: progress[name] for name in PROGRESS}
    except KeyError as error:
        raise Problem(f"{path} is not a {TRAINING} file: it has no {error}") from error
    so_far = from_json(_SoFar, known, path, f"a {TRAINING} file")
    if so_far.steps < 0 or any({"command", "settings"} - stage.keys() for stage in so_far.stages):
        raise Problem(f"{path} is not a {TRAINING} file: its stages or steps make no sense")
    return dataclasses.replace(so_far, arrays=arrays)


def _command(task_name: str, settings: TrainSettings, seed: int, start: Path | None) -> str:
    recipe = dataclasses.asdict(recipe_of(base_of(task_name)))
    changed = {name: value for name, value in dataclasses.asdict(settings).items() if value != recipe[name]}
    options = {"seed": seed, **changed, "out": f"{base_of(task_name)}.npz", "start": start.name if start else None}
    return command_of(("policy", "train", task_name), options)
