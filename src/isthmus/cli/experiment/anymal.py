"""From ANYmal's log to its walk."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.core.command import command_of


@dataclass(frozen=True)
class Anymal:
    """Carry a walking policy to a stand-in ANYmal by way of an actuator network, as Hwangbo et al. (2019) did.

    Example: `isthmus experiment anymal --quick --out runs/anymal-quick`

    Example: `isthmus experiment anymal --workers 2 --results docs/results`

    Collects less than four minutes of the stand-in's motion, fits models of its drives, and trains walking policies
    with the network, the fitted PD law and ideal drives, from several seeds and with equal budgets. Their mean actions
    are then carried to the stand-in unchanged. What was stopped, or killed, goes on with the same command. Needs
    isthmus[anymal].
    """

    quick: bool = False
    """Seconds instead of an hour: it shows that everything runs, and its figures mean nothing."""
    seeds: int | None = None
    """Training seeds: 0, 1, 2, ...; 3, or 1 with --quick, when not given."""
    final: bool = False
    """Also walk on the second stand-in, which is kept for one final evaluation."""
    workers: int = len(os.sched_getaffinity(0))
    """Processes that run side by side."""
    out: Path = Path("runs/anymal")
    """Folder of the work: what is done is kept there."""
    results: Path | None = None
    """Folder of the results; OUT when not given."""
    video: bool = True
    """Film all arms side by side."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Do what is missing, and print the tables."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.anymal import Plan, film_arms, run, walk_second
        from isthmus.experiments.anymal.publish import DRIVES, NAME, WALKS, drive_rows, walk_rows, write
        from isthmus.experiments.grid import check_counts

        plan = Plan.quick() if self.quick else Plan()
        plan = plan if self.seeds is None else replace(plan, seeds=self.seeds)
        check_counts(seeds=plan.seeds, workers=self.workers)

        def say(what: str) -> None:
            stderr.print(f"anymal: {what}", soft_wrap=True)

        with grid_progress("ANYmal") as watch:
            found = run(plan, self.out, watch, say, workers=self.workers)
        if self.final:
            found = walk_second(found, plan, self.out, say)
        film = film_arms(plan, self.out, say) if self.video else None
        folder = self.results or self.out
        command = command_of(("experiment", "anymal"), {"quick": self.quick, "seeds": self.seeds, "final": self.final})
        data: dict[str, Any] = write(found, plan, folder, command, film)
        if self.json:
            print_json(data)
            return
        print_table("models of the drives, error of the torque", DRIVES, drive_rows(data))
        for robot in data["robots"]:
            print_table(f"walks on the {robot} stand-in", WALKS, walk_rows(data, robot))
        stdout.print(f"\npage: {folder / NAME}.html, figures: {folder / NAME}.json", soft_wrap=True)
