"""The same run from many seeds."""

import os
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument
from isthmus.cli.output import print_json, print_table, stdout


@dataclass(frozen=True)
class Seeds:
    """Cross a gap from many seeds, and say how well it went and how sure that is.

    Example: `isthmus experiment seeds reacher --gap tilt=90 --samples 2000 --seeds 10`

    Example: `isthmus experiment seeds hopper --policy ppo_hopper.zip --gap gravity=1.2 --seeds 5`

    A study that was stopped goes on with the same command.
    """

    task: TaskArgument
    gap: str = "none"
    """What is different on the target, as in tilt=90: see `isthmus list gaps`."""
    source: PolicyArgument = EXPERT
    method: str = "auto"
    """The way across: see `isthmus list methods`."""
    samples: int = 2000
    """Steps that may be taken on the target."""
    history: int = 1
    """Observations the inverse model looks at."""
    may_retrain: bool = False
    """Let --method auto train the policy on, in the corrected simulator, where changing its actions is not enough."""
    seeds: int = 10
    """How many seeds: 0, 1, 2, ..."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path | None = None
    """Folder of the study; runs/study-TASK-GAP-METHOD, with the policy's name if one is given, when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the study, print its table, write JSON and plot."""
        from isthmus.adapt import MethodSettings
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments import study_seeds
        from isthmus.experiments.plot import plot_curve
        from isthmus.robots import load_task
        from isthmus.transfer import Config, folder_name

        settings = MethodSettings(history=self.history, may_retrain=self.may_retrain)
        policy = self.source.file
        config = Config(self.task, self.gap, self.method, self.samples, settings=settings, policy=policy)
        config.load_gap().apply(load_task(self.task).robot_model.model)
        whose = (self.source.policy.stem,) if self.source.policy else ()
        out = self.out or Path("runs") / folder_name("study", self.task, *whose, self.gap, self.method)
        with grid_progress("seeds") as watch:
            study = study_seeds(config, range(self.seeds), out, self.workers, watch)
        plot_curve(study, out / "study.svg")
        figures = study.to_json()
        if self.json:
            print_json(figures)
            return
        print_table(
            f"{self.task}, {self.gap}, {self.method}: normalised score over {self.seeds} seeds",
            ("samples ", "median ", "worst ", "quartiles "),
            [
                (
                    str(point["samples"]),
                    f"{point['median']:.3f}",
                    f"{point['worst']:.3f}",
                    "{:.3f} to {:.3f}".format(*point["quartiles"]),
                )
                for point in figures["curve"]
            ],
        )
        stdout.print(f"\nfigures: {out / 'study.json'}, plot: {out / 'study.svg'}", soft_wrap=True)
