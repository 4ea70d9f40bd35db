"""The paper's figures 3, 4 and 5, made again."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from isthmus.cli.arguments import EXPERT, PolicyArgument, split_names
from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.core import Problem, unknown_name

if TYPE_CHECKING:
    from isthmus.experiments.paper import Figure


@dataclass(frozen=True)
class Paper:
    """Make figure 3, 4 or 5 of the paper again, and show ours beside the paper's numbers.

    Example: `isthmus experiment paper figure-4 --quick --tasks hopper`

    A study that was stopped, or killed, goes on with the same command; more seeds go on from fewer. figure-3 is the
    score against the size of the gap, figure-4 the samples until 3/4 of the expert, and figure-5 swings of a Fetch arm
    over ROS. What is there so far is always in
    OUT/FIGURE: a page, a plot, a table and JSON.
    """

    figure: Positional[str]
    """figure-3, figure-4 or figure-5."""
    quick: bool = False
    """A coarse look within minutes: two seeds, few gaps, small budgets. Its cells are kept apart."""
    tasks: tuple[str, ...] = ()
    """Robots to run; all of the figure that have an expert when not given."""
    arms: tuple[str, ...] = ("ours",)
    """Ways across, each in figures 3 and 4 beside the others: ours, paper (its network, without and with history) and
    correction (its other form)."""
    source: PolicyArgument = EXPERT
    """Another policy than the expert, of one robot that --tasks names; give it an --out of its own."""
    seeds: int | None = None
    """How many seeds: 0, 1, 2, ...; 10, or 2 with --quick, when not given."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side; a Ray cluster decides by its CPUs."""
    ray: str | None = None
    """Address of a Ray cluster to run on instead, as in `auto`: needs the extra isthmus[ray]."""
    out: Path = Path("runs/reproduce")
    """Folder of the figures."""
    keep_runs: bool = False
    """Keep the run folders of finished cells, with everything that was collected."""
    speed: float = 20.0
    """Of figure-5's stand-in robots: how many times as fast as real time, at most."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing, print the table."""
        if self.figure == "figure-5":
            self._run_figure_5()
            return
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.paper import QUICK_SEEDS, SEEDS, reproduce

        figure = self._figure()
        seeds = self.seeds if self.seeds is not None else QUICK_SEEDS if self.quick else SEEDS
        with grid_progress(figure.title) as watch:
            summary = reproduce(
                figure,
                self.out,
                seeds=seeds,
                only=split_names(self.tasks),
                workers=self.workers,
                ray=self.ray,
                keep_runs=self.keep_runs,
                watch=watch,
            )
        if self.json:
            print_json(summary.to_json())
            return
        print_table(figure.title, figure.brief, summary.brief)
        folder = self.out / figure.folder
        stdout.print(f"\npage: {folder / figure.name}.html, figures: {folder / figure.name}.json", soft_wrap=True)

    def _run_figure_5(self) -> None:
        """The Fetch arm, which needs ROS and has no seeds."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.paper.figure_5 import FULL, QUICK, reproduce_figure_5
        from isthmus.experiments.paper.figure_5.summary import COLUMNS

        settings = QUICK if self.quick else FULL
        with grid_progress("Figure 5") as watch:
            summary = reproduce_figure_5(
                settings,
                self.out,
                speed=self.speed,
                tell=lambda what: stderr.print(f"figure 5: {what}", soft_wrap=True),
                watch=watch,
            )
        if self.json:
            print_json(summary.to_json())
            return
        print_table("Figure 5: mean normalised distance to the simulator's trajectory", COLUMNS, summary.rows)
        folder = self.out / settings.folder
        stdout.print(f"\nfigures: {folder / 'figure-5.json'}, the arm: {folder / 'arm.mp4'}", soft_wrap=True)

    def _figure(self) -> "Figure":
        from isthmus.experiments.paper import FIGURES
        from isthmus.experiments.paper.settings import ARM_GROUPS

        if self.figure not in FIGURES:
            raise unknown_name("figure", self.figure, (*FIGURES, "figure-5"))
        groups = split_names(self.arms)
        for name in groups:
            if name not in ARM_GROUPS:
                raise unknown_name("arm", name, ARM_GROUPS)
        figure = FIGURES[self.figure](quick=self.quick, arms=[arm for name in groups for arm in ARM_GROUPS[name]])
        policy = self.source.file
        if policy is None:
            return figure
        if len(split_names(self.tasks)) != 1:
            raise Problem("a policy is for one robot: name it, as in --tasks hopper --policy FILE")
        return figure.with_policy(self.tasks[0], policy)
