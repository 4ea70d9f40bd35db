"""The suite of calibrated gaps."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.cli.arguments import EXPERT, PolicyArgument, split_names
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core import Problem, unknown_name
from isthmus.core.command import command_of
from isthmus.experiments.suite.settings import BUDGETS, CALIBRATION_EPISODES, RUNGS, SEEDS, TASKS

if TYPE_CHECKING:
    from isthmus.experiments.suite.calibration import Calibration


@dataclass(frozen=True)
class Suite:
    """Measure how much of a loss each method recovers, on gaps of many families that cost the same.

    Example: `isthmus experiment suite --tasks hopper --methods auto residual-action --results docs/results`

    Example: `isthmus experiment suite --calibrate --tasks hopper --policy ppo_hopper.zip`

    The size of every gap is found in simulation, so that the unadapted policy keeps a given share of its score. That
    calibration ships for the experts; for another policy it is made first, once. A suite that was stopped, or killed,
    goes on with the same command. What is there so far is always in RESULTS: suite.md, .json, .svg and .html.
    """

    tasks: tuple[str, ...] = ()
    """Robots; all with a shipped expert when not given."""
    source: PolicyArgument = EXPERT
    calibrate: bool = False
    """Only find the sizes, and write OUT/calibration/TASK.json, which is used from then on."""
    episodes: int = CALIBRATION_EPISODES
    """Episodes behind every score of the calibration."""
    rungs: tuple[float, ...] = RUNGS[:1]
    """Shares of its score that gaps leave the unadapted policy: of 0.5, 0.3 and 0.7."""
    methods: tuple[str, ...] = ()
    """Methods to run; the others are shown as far as they are. All when not given."""
    budgets: tuple[int, ...] = BUDGETS
    """Samples at which methods learn anew and are judged, in ascending order."""
    may_retrain: bool = False
    """Run --method auto alone, which may train the policy on; give it an --out of its own."""
    practice: float = 0.0
    """Minutes of training in a round, with --may-retrain."""
    practice_steps: int = 0
    """The same in steps of simulation."""
    seeds: int = SEEDS
    """How many seeds: 0, 1, 2, ..."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path | None = None
    """Folder of the work; runs/suite, or runs/suite-POLICY with a policy, when not given."""
    results: Path | None = None
    """Folder of the results; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Calibrate what has to be, run what is missing, print the headline."""
        from isthmus.experiments.suite.calibration import COLUMNS

        self._check()
        calibrations = self._calibrations()
        if not self.calibrate:
            self._cross(calibrations)
        elif self.json:
            print_json({one.task: one.rows() for one in calibrations})
        else:
            print_table("calibrated gaps", COLUMNS, [row for one in calibrations for row in one.rows()])
            stdout.print(f"\nfiles: {self._out / 'calibration'}", soft_wrap=True)

    def _check(self) -> None:
        from isthmus.experiments.suite.run import check_suite

        counts = {"seeds": self.seeds, "workers": self.workers, "episodes": self.episodes}
        check_suite(split_names(self.methods), may_retrain=self.may_retrain, **counts)
        for rung in self.rungs:
            if rung not in RUNGS:
                raise Problem(f"rungs are of {', '.join(map(str, RUNGS))}, got {rung:g}")
        if not self.budgets or list(self.budgets) != sorted({*self.budgets}) or self.budgets[0] < 1:
            raise Problem("budgets are numbers of samples in ascending order, as in 500 2000 10000")
        if self.source.policy is None:
            for task in self._tasks:
                if task not in TASKS:
                    raise unknown_name("task of the suite", task, TASKS)
        elif len(self._tasks) != 1:
            raise Problem("a policy is for one robot: name it, as in --tasks hopper --policy FILE")

    @property
    def _tasks(self) -> tuple[str, ...]:
        return split_names(self.tasks) or (TASKS if self.source.policy is None else ())

    @property
    def _out(self) -> Path:
        name = f"suite-{self.source.policy.stem}" if self.source.policy else "suite"
        return self.out or Path("runs") / name

    def _calibrations(self) -> "list[Calibration]":
        """What is known, and what had to be found first."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.suite.calibrate import calibrate
        from isthmus.experiments.suite.calibration import find_calibration

        policy, found = self.source.file, dict[str, "Calibration"]()
        if not self.calibrate:
            known = {task: find_calibration(task, policy, self._out / "calibration") for task in self._tasks}
            found = {task: one for task, one in known.items() if one is not None}
        missing = [task for task in self._tasks if task not in found]
        if missing:
            with grid_progress("calibration") as watch:
                made = calibrate(
                    missing, self._out, policy=policy, episodes=self.episodes, workers=self.workers, watch=watch
                )
            found |= {one.task: one for one in made}
        return [found[task] for task in self._tasks]

    def _cross(self, calibrations: "list[Calibration]") -> None:
        from isthmus.adapt import MethodSettings
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.suite.page import (
            TITLE,
            headline_columns,
            headline_rows,
            state_text,
            suite_json,
            write_suite,
        )
        from isthmus.experiments.suite.run import crossings, run_suite

        folder, policy = self.results or self._out, self.source.file
        options = {
            "tasks": split_names(self.tasks),
            **(policy.options if policy else {}),
            "rungs": self.rungs if self.rungs != RUNGS[:1] else None,
            "methods": split_names(self.methods),
            "budgets": self.budgets if self.budgets != BUDGETS else None,
            "may_retrain": self.may_retrain,
            "practice": self.practice or None,
            "practice_steps": self.practice_steps or None,
            "seeds": self.seeds,
        }
        settings = MethodSettings(
            may_retrain=self.may_retrain, practice=self.practice, practice_steps=self.practice_steps
        )
        command = command_of(("experiment", "suite"), options)
        with grid_progress(TITLE) as watch:
            outcomes = run_suite(
                crossings(calibrations, rungs=self.rungs, budgets=self.budgets, policy=policy, settings=settings),
                self._out,
                seeds=self.seeds,
                methods=split_names(self.methods),
                workers=self.workers,
                show=lambda there: write_suite(there, calibrations, command, folder),
                watch=watch,
            )
        if self.json:
            print_json(suite_json(outcomes, calibrations, command))
            return
        print_table("share of the loss that is recovered", headline_columns(outcomes), headline_rows(outcomes))
        stdout.print(f"\n{state_text(outcomes)}\npage: {folder / 'suite.html'}", soft_wrap=True)
