"""Reproduce figure 3 or 4 of the paper, cell by cell."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from isthmus.core import Problem, unknown_name
from isthmus.experiments.grid import Json, Progress, Watch, check_counts, run_grid
from isthmus.experiments.paper.cells import tallies
from isthmus.experiments.paper.figure import Figure, Summary
from isthmus.experiments.store import CellFiles
from isthmus.experts import expert_path


def reproduce(
    figure: Figure,
    out: Path,
    *,
    seeds: int,
    only: Sequence[str] = (),
    workers: int = 1,
    ray: str | None = None,
    keep_runs: bool = False,
    watch: Watch[Json] = lambda _progress: None,
) -> Summary:
    """Run the cells of `figure` that are not yet in `out`, and write what there is to show after each of them."""
    check_counts(seeds=seeds, workers=workers)
    robots = _with_an_expert(figure, only)
    store = CellFiles(out / figure.folder, keep_runs=keep_runs)
    # Seed by seed, so that a figure that is stopped early has some of everything.
    every = [(case, seed) for seed in range(max(seeds, _stored_seeds(store.path))) for case in figure.cases]
    wanted = {case.file(seed) for case, seed in every if case.robot in robots and seed < seeds}

    def summary(found: Mapping[str, Json]) -> Summary:
        expected = dict.fromkeys(only or figure.robots, seeds)
        for case, seed in every:
            if case.file(seed) in found:
                expected[case.robot] = max(expected.get(case.robot, 0), seed + 1)
        return Summary(figure, tallies(figure.cases, found, expected))

    def show(progress: Progress[Json]) -> None:
        summary(progress.found).write(store.path)
        watch(progress)

    cells = [case.cell(seed, traces=keep_runs) for case, seed in every]
    return summary(run_grid(cells, store, show, workers=workers, ray=ray, wanted=wanted))


def _stored_seeds(folder: Path) -> int:
    """How many seeds the cells in `folder` go up to."""
    ends = (re.search(r"seed-(\d+)$", path.stem) for path in folder.glob("cells/*.json"))
    return 1 + max((int(end[1]) for end in ends if end), default=-1)


def _with_an_expert(figure: Figure, only: Sequence[str]) -> tuple[str, ...]:
    """The robots to run. One without an expert is refused if it was named, and otherwise left out."""
    for robot in only:
        if robot not in figure.robots:
            raise unknown_name(f"robot of {figure.name}", robot, figure.robots)
        if not expert_path(robot).exists():
            raise Problem(f"no expert ships for {robot} yet, so its cells cannot be run: name other robots by --only")
    return tuple(robot for robot in only or figure.robots if expert_path(robot).exists())
