"""Train a policy in the source simulator."""

import dataclasses
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from isthmus.cli.actuator.equipment import with_actuator
from isthmus.cli.arguments import TaskArgument
from isthmus.cli.firmware.equipment import with_twin
from isthmus.cli.output import print_json, started_late, stderr
from isthmus.cli.policy.evaluate import print_evaluation
from isthmus.experts.settings import Algorithm, TrainSettings, recipe_of
from isthmus.robots.equipment import base_of

QUIET_SECONDS = 30.0
"""Between two lines when nobody watches a terminal."""


def train_with_progress(
    task_name: str, path: Path, settings: TrainSettings, seed: int, episodes: int, *, resume: bool, start: Path | None
) -> dict[str, Any]:
    """Train an expert, write it to `path` with its provenance, and return the provenance."""
    from isthmus.experts.make import make_expert

    columns = (
        TextColumn("training {task.fields[name]}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("steps  return {task.fields[recent]}"),
        TimeRemainingColumn(),
    )
    with started_late(Progress(*columns, console=stderr)) as progress:
        bar = progress.add_task("", total=settings.steps, name=base_of(task_name), recent="-")

        began, last_report = time.monotonic(), 0.0
        at_first: int | None = None

        def report(steps: int, recent: float) -> None:
            nonlocal last_report, at_first
            at_first = steps if at_first is None else at_first
            text = "-" if math.isnan(recent) else f"{recent:.2f}"
            progress.start()
            progress.update(bar, completed=steps, recent=text)
            now = time.monotonic()
            if not stderr.is_terminal and now - last_report > QUIET_SECONDS:
                last_report = now
                stderr.print(f"{steps} steps: return {text}, {(steps - at_first) / (now - began):.0f} steps/s")

        return make_expert(task_name, path, settings, seed, episodes, report, resume=resume, start=start)


@dataclass(frozen=True)
class Train:
    """Train an expert on the task's reward, in the source simulator.

    Example: `isthmus policy train reacher --seed 0 --out my-reacher.npz`
    """

    task: TaskArgument
    out: Path | None = None
    """Where to put the policy (.npz); a provenance JSON goes beside it. EXPERT-TASK-SEED.npz when not given."""
    seed: int = 0
    """Decides everything random."""
    episodes: int = 100
    """Episodes behind the returns in the provenance."""
    json: bool = False
    """Print the provenance as JSON only."""
    resume: bool = False
    """Go on with a training from its last save, perhaps with other settings."""
    start: Path | None = None
    """Begin with this policy (.npz, with its provenance beside it) instead of from nothing."""
    actuator: Path | None = None
    """An actuator model (.npz) for the robot's drives: see `isthmus actuator fit`."""
    twin: Path | None = None
    """A twin of the robot's firmware (.npz): how late its processor and buses are. See `isthmus firmware twin`."""
    algorithm: Algorithm | None = None
    """How to train; the task's recipe when not given, as for all below."""
    steps: int | None = None
    """Environment steps in all."""
    worlds: int | None = None
    """Simulations that run side by side."""
    batch: int | None = None
    """Steps of each world between two updates."""
    discount: float | None = None
    """Weight of the next step's reward."""
    gae: float | None = None
    """Lambda of generalised advantage estimation."""
    hidden: int | None = None
    """Units in each of the two tanh layers."""
    initial_std: float | None = None
    """Standard deviation of the actions at first."""
    rate: float | None = None
    """PPO's learning rate at first."""
    minibatch: int | None = None
    """States in a step of PPO's optimiser."""
    epochs: int | None = None
    """PPO's passes over a batch."""
    entropy: float | None = None
    """What PPO pays for wide exploration, which makes a robust expert."""
    kl: float | None = None
    """Largest KL divergence of an update of TRPO."""
    subsample: int | None = None
    """TRPO estimates the curvature from one in so many states."""
    randomise: str | None = None
    """Gaps that are drawn anew in every simulation and episode, as in mass=0.8:1.25,delay=0:1: a robust expert. A dial
    for BODY * is drawn for every body, models=30 draws from so many robots, and `inertial` is 30 robots with other
    masses, centres of mass and joint positions."""

    conditioned: bool = False
    """Tell the policy the physics that was drawn: one policy for all of --randomise, which `isthmus transfer --method
    conditioned` uses with the physics that it identifies on the target."""

    def run(self) -> None:
        """Train, evaluate, write policy and provenance."""
        from isthmus.cli.policy.train import train_with_progress
        from isthmus.robots import load_task

        if self.twin is not None:
            dataclasses.replace(self, task=with_twin(self.task, self.twin), twin=None).run()
            return
        if self.actuator is not None:
            dataclasses.replace(self, task=with_actuator(self.task, self.actuator), actuator=None).run()
            return
        base = base_of(self.task)
        name = Path(base).stem if base.endswith(".py") else base.replace(":", "-")
        path = self.out or Path(f"expert-{name}-{self.seed}.npz")
        recipe = recipe_of(base)
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(recipe)}
        settings = dataclasses.replace(recipe, **{name: value for name, value in given.items() if value is not None})
        made = train_with_progress(
            self.task, path, settings, self.seed, self.episodes, resume=self.resume, start=self.start
        )
        if self.json:
            print_json(made)
        else:
            print_evaluation(str(path), load_task(self.task), made["evaluation"])
