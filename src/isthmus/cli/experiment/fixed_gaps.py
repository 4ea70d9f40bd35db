"""Every method on many gaps."""

import os
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import split_names
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core.command import command_of


@dataclass(frozen=True)
class FixedGaps:
    """Compare all methods on fixed gaps of each robot: where does each of them win? See `experiment suite` too.

    Example: `isthmus experiment fixed-gaps --tasks reacher --seeds 3 --results docs/results`

    Example: `isthmus experiment fixed-gaps --tasks hopper humanoid --methods auto residual-action`

    A study that was stopped, or killed, goes on with the same command; more seeds go on from fewer. What is there so
    far is always in RESULTS, with what is missing shown as missing: compare.md, .json, .svg and .html.
    """

    tasks: tuple[str, ...] = ()
    """Robots to run; the others are shown as far as they are. All when not given."""
    methods: tuple[str, ...] = ()
    """Methods to run, without the oracles; the others are shown as far as they are. All when not given."""
    seeds: int = 3
    """How many seeds: 0, 1, 2, ..."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path = Path("runs/compare-suite")
    """Folder of the work: what is done is kept there."""
    results: Path | None = None
    """Folder of the results; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing, print what to take."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.comparison.fixed_gaps import run_fixed_gaps
        from isthmus.experiments.comparison.fixed_gaps_page import TAKE_COLUMNS, TITLE, fixed_gaps_json, take_table

        folder = self.results or self.out
        command = command_of(("experiment", "fixed-gaps"), {"seeds": self.seeds})
        with grid_progress(TITLE) as watch:
            done = run_fixed_gaps(
                self.out,
                folder,
                command,
                seeds=self.seeds,
                workers=self.workers,
                only=split_names(self.tasks),
                methods=split_names(self.methods),
                watch=watch,
            )
        if self.json:
            print_json(fixed_gaps_json(done, command))
            return
        print_table(TITLE, TAKE_COLUMNS, take_table(done))
        stdout.print(f"\npage: {folder / 'compare.html'}, table: {folder / 'compare.md'}", soft_wrap=True)
