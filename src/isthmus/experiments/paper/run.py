"""Make a figure of the paper again, cell by cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.core import Problem, unknown_name
from isthmus.experiments.cluster import cluster_size
from isthmus.experiments.paper.estimate import Estimate, time_left
from isthmus.experiments.paper.figure import Figure
from isthmus.experiments.paper.outcome import Outcome
from isthmus.experiments.paper.store import Store
from isthmus.experiments.paper.summary import Summary
from isthmus.experiments.pool import run_units
from isthmus.experiments.unit import Unit
from isthmus.experts import expert_path
from isthmus.io import check_tree
from isthmus.transfer import Result


@dataclass(frozen=True)
class Progress:
    """Where a study is."""

    finished: int
    total: int
    left: Estimate
    latest: Outcome | None = None
    """What has just come of a cell; None at the start."""


def reproduce(
    figure: Figure,
    out: Path,
    *,
    seeds: int,
    only: Sequence[str] = (),
    workers: int = 1,
    ray: str | None = None,
    keep_runs: bool = False,
    watch: Callable[[Progress], None] = lambda _progress: None,
) -> Summary:
    """Run the cells of `figure` that are not yet in `out`, and write all there is to show after each of them."""
    for name, value in (("seeds", seeds), ("workers", workers)):
        if value < 1:
            raise Problem(f"{name} must be at least 1, got {value}")
    robots = _with_an_expert(figure, only)
    parallel = workers if ray is None else cluster_size(ray)
    check_tree(out / figure.folder)
    store = Store(out / figure.folder, keep_runs=keep_runs)
    asked = dict.fromkeys(only or figure.robots, seeds)
    # Seed by seed, so that a study that is stopped early has a little of everything.
    cells = [case.cell(seed) for seed in range(seeds) for case in figure.cases if case.robot in robots]

    def summarise(latest: Outcome | None = None) -> None:
        outcomes, seconds = store.outcomes(figure.cases), store.seconds()
        Summary.of(figure, outcomes, asked).write(store.path)
        left = [cell for cell in cells if cell not in outcomes]
        took = {cell: seconds[cell.name] for cell in outcomes if cell.name in seconds}
        watch(Progress(len(cells) - len(left), len(cells), time_left(left, took, parallel), latest))

    there = store.outcomes(figure.cases)
    store.tidy(there)
    units = {
        Unit(str(cell), cell.config, store.run_path(cell), traces=keep_runs): cell
        for cell in cells
        if cell not in there
    }

    def deliver(unit: Unit, result: Result) -> None:
        summarise(store.save(units[unit], result))

    summarise()
    run_units(list(units), deliver, workers=workers, ray=ray)
    return Summary.of(figure, store.outcomes(figure.cases), asked)


def _with_an_expert(figure: Figure, only: Sequence[str]) -> tuple[str, ...]:
    """The robots to run; one that cannot be run is refused if it was named, and otherwise left out."""
    for robot in only:
        if robot not in figure.robots:
            raise unknown_name(f"robot of {figure.name}", robot, figure.robots)
        if not expert_path(robot).exists():
            raise Problem(f"no expert ships for {robot} yet, so its cells cannot be run: name other robots by --only")
    return tuple(robot for robot in only or figure.robots if expert_path(robot).exists())
