"""What each part of the method is worth."""

import os
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import split_names
from isthmus.cli.output import print_json, print_table, stdout


@dataclass(frozen=True)
class Ablation:
    """Leave out one part of `residual-action`, or of `auto`, at a time, on several gaps: what each of them is worth.

    Example: `isthmus experiment ablation --tasks reacher --seeds 3`

    An ablation that was stopped goes on with the same command.
    """

    tasks: tuple[str, ...] = ()
    """Tasks to look at; all that are in the study when not given."""
    seeds: int = 3
    """How many seeds: 0, 1, 2, ..."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path = Path("runs/ablation")
    """Folder of the runs."""
    results: Path | None = None
    """Folder of ablation.json and ablation.md; that of the runs when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing and print the table."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.ablation import CASES, ablation

        results, tasks = self.results or self.out, split_names(self.tasks) or tuple(CASES)
        with grid_progress("ablation") as watch:
            done = ablation(tasks, self.seeds, self.out, results, self.workers, watch)
        if self.json:
            print_json(done.rows())
            return
        print_table(
            f"median of {self.seeds} seeds, normalised score",
            ("task", "gap", "variant", "median ", "worst seed "),
            [
                (row["task"], row["gap"], row["variant"], f"{row['median']:.3f}", f"{row['worst']:.3f}")
                for row in done.rows()
            ],
        )
        stdout.print(f"\ntable: {results / 'ablation.md'}, figures: {results / 'ablation.json'}", soft_wrap=True)
