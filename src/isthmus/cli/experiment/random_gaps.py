"""Gaps that nobody chose."""

import os
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import split_names
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core.command import command_of


@dataclass(frozen=True)
class RandomGaps:
    """Cross random gaps on each robot: how far does a method get on gaps that nobody chose, and does it ever hurt?

    Example: `isthmus experiment random-gaps --tasks reacher --gaps 20`

    Example: `isthmus experiment random-gaps --tasks hopper half-cheetah --gaps 10 --results docs/results`

    A survey that was stopped goes on with the same command, and more gaps go on from fewer.
    """

    tasks: tuple[str, ...] = ()
    """Robots to survey; all that ship with an expert when not given."""
    gaps: int = 10
    """How many, from the first one on."""
    first: int = 100
    """The first of them, random:100 if not given: those before may be looked at while a method is made."""
    method: str = "auto"
    """The way across: see `isthmus list methods`."""
    samples: int = 1000
    """Steps that may be taken on the target."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path = Path("runs/survey")
    """Folder of the work: what is done is kept there."""
    results: Path | None = None
    """Folder of the results; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the survey and print its table."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.random_gaps import COLUMNS, SUMMARY, TASKS, survey

        folder, tasks = self.results or self.out, split_names(self.tasks) or TASKS
        options = {name: getattr(self, name) for name in ("gaps", "first", "method", "samples")}
        command = command_of(("experiment", "random-gaps"), {"tasks": tasks, **options})
        with grid_progress("random gaps") as watch:
            done = survey(
                tasks,
                range(self.first, self.first + self.gaps),
                self.out,
                folder,
                command,
                method=self.method,
                samples=self.samples,
                workers=self.workers,
                watch=watch,
            )
        if self.json:
            print_json({"summary": done.summary(), "rows": done.rows()})
            return
        print_table(f"random gaps, {self.method}, {self.samples} samples", COLUMNS, done.table())
        print_table("median, and how often it helped", SUMMARY, done.summary_table())
        stdout.print(f"\nfigures: {folder / 'survey.json'}, table: {folder / 'survey.md'}", soft_wrap=True)
