"""Run what comparisons are made of, and show what is there after each piece."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.experiments.comparison.case import Case
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.job import Job, OracleJob, Placed, RunJob, do
from isthmus.experiments.comparison.store import Store
from isthmus.experiments.pool import run_all
from isthmus.io import check_tree


@dataclass(frozen=True)
class Progress:
    """Where the work is."""

    done: int
    total: int
    latest: Job | None = None
    found: dict[str, Any] | None = None
    """What came of the latest."""


def compare(
    cases: Sequence[Case],
    out: Path,
    *,
    seeds: int,
    workers: int = 1,
    wanted: Callable[[Job], bool] = lambda _job: True,
    show: Callable[[list[Comparison]], None] = lambda _comparisons: None,
    watch: Callable[[Progress], None] = lambda _progress: None,
) -> list[Comparison]:
    """Do what is not yet done in `out`, side by side; `show` gets all there is, at the start and after every piece.

    Jobs that are not `wanted` are not done; what is there of them is shown.
    """
    for name, value in (("seeds", seeds), ("workers", workers)):
        if value < 1:
            raise Problem(f"{name} must be at least 1, got {value}")
    jobs = _jobs(cases, seeds)
    for case in cases:
        if any(wanted(job) for job in jobs if job.case is case):
            case.check()
    check_tree(out)
    store = Store(out)
    found, left = _sorted_out(store, jobs, wanted)
    total = len(found) + len(left)

    def so_far() -> list[Comparison]:
        return [Comparison.of(case, found, seeds) for case in cases]

    def deliver(placed: Placed, one: dict[str, Any]) -> None:
        found[placed.job.file] = one
        if "problem" not in one:  # what could not be done is tried again another time
            store.save(placed, one)
        show(so_far())
        watch(Progress(len(found), total, placed.job, one))

    show(so_far())
    watch(Progress(len(found), total))
    run_all(left, do, deliver, workers=workers)
    return so_far()


def _sorted_out(
    store: Store, jobs: Sequence[Job], wanted: Callable[[Job], bool]
) -> tuple[dict[str, dict[str, Any]], list[Placed]]:
    """What came of jobs that are done, by the name of their file, and those that are to be done."""
    found: dict[str, dict[str, Any]] = {}
    left: list[Placed] = []
    for job in jobs:
        placed, one = store.place(job), store.load(job)
        if one is not None:
            found[job.file] = one
            store.tidy(placed)
        elif wanted(job):
            left.append(placed)
    return found, left


def _jobs(cases: Sequence[Case], seeds: int) -> list[Job]:
    """Seed by seed, so that work that is stopped early has a little of everything; ceilings after the first."""
    first, *others = ([RunJob(case, entry, seed) for case in cases for entry in case.entries] for seed in range(seeds))
    oracle_scores = [OracleJob(case, metric) for case in cases for metric in case.metrics]
    return [*first, *oracle_scores, *(job for seed in others for job in seed)]
