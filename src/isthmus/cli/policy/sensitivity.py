"""Measure what each gap costs a policy."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument, split_names
from isthmus.cli.output import print_json, stderr, stdout
from isthmus.core.command import command_of


@dataclass(frozen=True)
class Sensitivity:
    """Measure how much of an expert's score each gap costs it, as JSON and plot.

    Example: `isthmus policy sensitivity reacher --out docs/results`

    Example: `isthmus policy sensitivity hopper --policy ppo_hopper.zip --dials gravity mass`
    """

    task: TaskArgument
    source: PolicyArgument = EXPERT
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
        file = self.source.file
        policy = source_policy(task, file)

        def watch(curve: Curve) -> None:
            points = zip(curve.values, curve.normalised, strict=True)
            stderr.print(f"{curve.dial:<18}" + "  ".join(f"{value:g}: {score:.2f}" for value, score in points))

        curves = sensitivity(task, policy, dials or tuple(DIALS), self.episodes, self.seed, watch)
        options = {**(file.options if file else {}), "dials": dials, "episodes": self.episodes, "seed": self.seed}
        figures = {
            "task": self.task,
            "episodes": self.episodes,
            "seed": self.seed,
            "command": command_of(("policy", "sensitivity", self.task), options),
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
