"""Train a policy in the source simulator."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.actuator.equipment import with_actuator
from isthmus.cli.arguments import TaskArgument
from isthmus.cli.output import print_json
from isthmus.cli.policy.evaluate import print_evaluation
from isthmus.experts.recipes import RECIPES
from isthmus.experts.settings import Algorithm, TrainSettings


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

    def run(self) -> None:
        """Train, evaluate, write policy and provenance."""
        from isthmus.cli.policy.training_progress import train_with_progress
        from isthmus.robots import load_task
        from isthmus.robots.equipment import base_of

        if self.actuator is not None:
            dataclasses.replace(self, task=with_actuator(self.task, self.actuator), actuator=None).run()
            return
        base = base_of(self.task)
        name = Path(base).stem if base.endswith(".py") else base.replace(":", "-")
        path = self.out or Path(f"expert-{name}-{self.seed}.npz")
        recipe = RECIPES.get(base, TrainSettings())
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(recipe)}
        settings = dataclasses.replace(recipe, **{name: value for name, value in given.items() if value is not None})
        made = train_with_progress(
            self.task, path, settings, self.seed, self.episodes, resume=self.resume, start=self.start
        )
        if self.json:
            print_json(made)
        else:
            print_evaluation(str(path), load_task(self.task), made["evaluation"])
