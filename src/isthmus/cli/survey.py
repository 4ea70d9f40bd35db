"""Several gaps on several robots."""

import os
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.output import print_json, print_table, stderr, stdout


@dataclass(frozen=True)
class Survey:
    """Cross several gaps on each robot from several seeds: where adaptation helps, and where it does not.

    Example: `isthmus survey --tasks reacher --seeds 5`

    A survey that was stopped goes on with the same command.
    """

    tasks: tuple[str, ...] = ()
    """Tasks to survey; all that have crossings to survey when not given."""
    seeds: int = 5
    """How many seeds: 0, 1, 2, ..."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path = Path("runs/survey")
    """Folder of the survey."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the survey and print its table."""
        from isthmus.studies.survey import CROSSINGS, survey
        from isthmus.transfer import Config, Result

        def watch(config: Config, result: Result) -> None:
            scores = f"{result.normalised_unadapted:.3f} -> {result.normalised_adapted:.3f}"
            stderr.print(f"{config.task}, {config.gap}, seed {result.seed}: {scores}")

        done = survey(self.tasks or tuple(CROSSINGS), self.seeds, self.out, self.workers, watch)
        if self.json:
            print_json(done.rows())
            return
        print_table(
            f"median of {self.seeds} seeds, normalised score",
            ("task", "gap", "samples ", "unadapted ", "adapted ", "worst seed ", ""),
            [
                (
                    row["task"],
                    row["gap"],
                    str(row["samples"]),
                    *(f"{row[name]:.3f}" for name in ("unadapted", "adapted", "worst")),
                    row["verdict"],
                )
                for row in done.rows()
            ],
        )
        stdout.print(f"\nfigures: {self.out / 'survey.json'}, table: {self.out / 'survey.md'}", soft_wrap=True)
