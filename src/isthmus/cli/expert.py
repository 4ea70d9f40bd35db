"""Train and evaluate experts."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, subcommand

from isthmus.cli.names import reward_name, split_names
from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.experts.recipes import RECIPES
from isthmus.experts.settings import Algorithm, TrainSettings

if TYPE_CHECKING:
    from isthmus.tasks import Task


@dataclass(frozen=True)
class Train:
    """Train an expert on the task's reward, in the source simulator.

    Example: `isthmus expert train reacher --seed 0 --out my-reacher.npz`
    """

    task: Positional[str]
    """The task: see `isthmus tasks`."""
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
    """Gaps that are drawn anew in every simulation and episode, as in mass=0.8:1.25,delay=0:1: a robust expert."""

    def run(self) -> None:
        """Train, evaluate, write policy and provenance."""
        from isthmus.cli.training import train_with_progress
        from isthmus.robots import load_task

        name = Path(self.task).stem if self.task.endswith(".py") else self.task.replace(":", "-")
        path = self.out or Path(f"expert-{name}-{self.seed}.npz")
        recipe = RECIPES.get(self.task, TrainSettings())
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(recipe)}
        settings = dataclasses.replace(recipe, **{name: value for name, value in given.items() if value is not None})
        made = train_with_progress(
            self.task, path, settings, self.seed, self.episodes, resume=self.resume, start=self.start
        )
        if self.json:
            print_json(made)
        else:
            _print_evaluation(str(path), load_task(self.task), made["evaluation"])


@dataclass(frozen=True)
class Evaluate:
    """Run an expert in its own simulator, or across a gap.

    Example: `isthmus expert evaluate reacher --episodes 100 --json`
    """

    task: Positional[str]
    """The task: see `isthmus tasks`."""
    gap: str = "none"
    """What is different from its simulator."""
    policy: Path | None = None
    """Another policy than the one that ships with the task: .npz (ours), .zip (Stable-Baselines3) or .onnx."""
    normaliser: Path | None = None
    """VecNormalize statistics (.pkl) that the policy was trained with."""
    layout: str | None = None
    """Gymnasium's version whose observation the policy sees, as in v5, or v3+time with RL Zoo's time feature."""
    trust: bool = False
    """Accept what is otherwise refused because it could run code or take long: ONNX policies that loop or branch."""
    episodes: int = 100
    """How many episodes."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Evaluate and print."""
        from isthmus.cli.files import policy_file
        from isthmus.core import stream
        from isthmus.experts.assess import assess
        from isthmus.gaps import Gap
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy

        task, gap = load_task(self.task), Gap.parse(self.gap)
        policy = source_policy(task, policy_file(self.policy, self.normaliser, self.layout, trust=self.trust))
        outcome = assess(task, policy, gap, self.episodes, stream(self.seed, "expert", "evaluate"))
        if self.json:
            print_json({"task": self.task, "gap": str(gap), "episodes": self.episodes, "seed": self.seed} | outcome)
        else:
            _print_evaluation(f"{self.task}, {gap}, {self.episodes} episodes", task, outcome)


@dataclass(frozen=True)
class Sensitivity:
    """Measure how much of an expert's score each gap costs it, as JSON and plot.

    Example: `isthmus expert sensitivity reacher --out docs/results`
    """

    task: Positional[str]
    """The task: see `isthmus tasks`."""
    dials: tuple[str, ...] = ()
    """Gaps to measure, as in gravity mass; all that fit when not given."""
    episodes: int = 50
    """Episodes behind each point."""
    seed: int = 0
    """Decides where the episodes start."""
    out: Path = Path()
    """Folder for TASK-sensitivity.json and .svg."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Measure, write and print."""
        from isthmus.core import Problem, unknown_name
        from isthmus.core.commit import current_commit
        from isthmus.experiments.plot import plot_sensitivity
        from isthmus.experiments.sensitivity import DIALS, Curve, sensitivity
        from isthmus.io import write_json
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy

        dials = split_names(self.dials)
        for dial in dials:
            if dial not in DIALS:
                raise unknown_name("dial", dial, DIALS)
        if self.episodes < 1:
            raise Problem(f"episodes must be at least 1, got {self.episodes}")
        task = load_task(self.task)
        policy = source_policy(task, None)

        def watch(curve: Curve) -> None:
            points = zip(curve.values, curve.normalised, strict=True)
            stderr.print(f"{curve.dial:<18}" + "  ".join(f"{value:g}: {score:.2f}" for value, score in points))

        chosen = f" --dials {' '.join(dials)}" if dials else ""
        curves = sensitivity(task, policy, dials or tuple(DIALS), self.episodes, self.seed, watch)
        figures = {
            "task": self.task,
            "episodes": self.episodes,
            "seed": self.seed,
            "command": f"isthmus expert sensitivity {self.task}{chosen} --episodes {self.episodes} --seed {self.seed}",
            "commit": current_commit(),
            "curves": [curve.to_json() for curve in curves],
        }
        name = f"{task.name}-sensitivity"
        write_json(self.out / f"{name}.json", figures)
        plot_sensitivity(task.name, curves, self.out / f"{name}.svg")
        if self.json:
            print_json(figures)
        else:
            stdout.print(f"figures: {self.out / name}.json, plot: {self.out / name}.svg", soft_wrap=True)


Action = (
    Annotated[Train, subcommand("train")]
    | Annotated[Evaluate, subcommand("evaluate")]
    | Annotated[Sensitivity, subcommand("sensitivity")]
)


@dataclass(frozen=True)
class Expert:
    """Train or evaluate the simulation policy of a task.

    Example: `isthmus expert evaluate reacher`
    """

    what: Action

    def run(self) -> None:
        """Do it."""
        self.what.run()


def _print_evaluation(title: str, task: "Task", outcome: dict[str, dict[str, float] | float]) -> None:
    gym_return, score = outcome["gym_return"], outcome["score"]
    if not isinstance(gym_return, dict) or not isinstance(score, dict):
        raise TypeError("an evaluation holds a mean and a spread of each figure")
    print_table(
        title,
        ("", "mean ", "+/- "),
        [
            (f"return, {reward_name(task)}", f"{gym_return['mean']:.3f}", f"{gym_return['std']:.3f}"),
            (
                "score, without torque penalty" if task.gym_id else "score",
                f"{score['mean']:.3f}",
                f"{score['std']:.3f}",
            ),
            ("full-length episodes", f"{outcome['full_length']:.0%}", ""),
        ],
    )
