"""Every method on the same gap."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument, split_names
from isthmus.cli.output import print_json, print_table, stdout

if TYPE_CHECKING:
    from isthmus.experiments.comparison.comparison import Comparison


@dataclass(frozen=True)
class Compare:
    """Try every method on one gap, and recommend one; an oracle is shown beside them.

    Example: `isthmus compare hopper --gap gravity=1.1 --samples 10000 --methods all --seeds 5`

    A comparison that was stopped, or killed, goes on with the same command; more seeds go on from fewer. What is there
    so far is always in OUT: a page, a table in markdown and JSON.
    """

    task: TaskArgument
    gap: str = "none"
    """What is different on the target, as in gravity=1.1: see `isthmus list gaps`."""
    methods: tuple[str, ...] = ("all",)
    """Which to compare, as in output-error gaussian: see `isthmus list methods`; unadapted always takes part."""
    samples: int = 2000
    """Steps that a method may take on the target."""
    seeds: int = 3
    """How many seeds: 0, 1, 2, ..."""
    episodes: str = ""
    """Episodes behind every score, as in 50; of methods by name, as in 50,gaussian=8. 8 for slow ones if not given."""
    oracle: bool = True
    """Score the oracle too, which looks into the target."""
    oracle_episodes: int = 50
    """Episodes behind the oracle's score."""
    source: PolicyArgument = EXPERT
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path | None = None
    """Folder of the comparison; runs/compare-TASK-GAP when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing, print the table and the advice."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.evaluate.oracle import METRICS
        from isthmus.experiments.comparison import Case, compare
        from isthmus.experiments.comparison.case import choose_entries, parse_episodes
        from isthmus.experiments.comparison.write import write_comparison
        from isthmus.transfer import folder_name

        default, named = parse_episodes(self.episodes)
        case = Case(
            task=self.task,
            gap=self.gap,
            samples=self.samples,
            entries=choose_entries(",".join(split_names(self.methods))),
            default_episodes=default,
            episodes=named,
            metrics=tuple(METRICS) if self.oracle else (),
            oracle_episodes=self.oracle_episodes,
            policy=self.source.file,
        )
        out = self.out or Path("runs") / folder_name("compare", self.task, case.gap)
        with grid_progress(case.name) as watch:
            [comparison] = compare(
                [case],
                out,
                seeds=self.seeds,
                workers=self.workers,
                show=lambda comparisons: write_comparison(comparisons[0], out),
                watch=watch,
            )
        if self.json:
            print_json(comparison.to_json())
            return
        _print(comparison)
        stdout.print(f"\npage: {out / 'compare.html'}, figures: {out / 'compare.json'}", soft_wrap=True)


def _print(comparison: "Comparison") -> None:
    from isthmus.experiments.comparison.comparison import BRIEF
    from isthmus.experiments.comparison.write import ORACLE_COLUMNS

    rows, notes = comparison.brief()
    print_table(comparison.case.name, BRIEF, rows)
    for note in notes:
        stdout.print(note, soft_wrap=True)
    if comparison.case.metrics:
        stdout.print()
        print_table("oracle: looks into the target, no method", ORACLE_COLUMNS, comparison.oracle_table())
    stdout.print(f"\n{comparison.advice.text}", soft_wrap=True)
