"""Every method on the gaps of every robot: the study behind docs/results/compare.md."""

from collections.abc import Sequence
from pathlib import Path

from isthmus.core import unknown_name
from isthmus.experiments.comparison.case import Case, choose_entries
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.fixed_gaps_page import write_fixed_gaps
from isthmus.experiments.comparison.run import compare
from isthmus.experiments.comparison.settings import BUDGETS, SUITE, SUITE_METHODS, SUITE_ROUNDS, SUITE_STOPS
from isthmus.experiments.grid import Json, Watch


def run_fixed_gaps(
    out: Path,
    results: Path,
    command: str,
    *,
    seeds: int,
    workers: int = 1,
    only: Sequence[str] = (),
    methods: Sequence[str] = (),
    watch: Watch[Json] = lambda _progress: None,
) -> list[Comparison]:
    """Do what is missing in `out`, of the tasks and methods that are named, and write `results` after every piece.

    Where none are named, all are meant; the oracles go with all methods.
    """
    known = dict.fromkeys(entry.method for entry in choose_entries(SUITE_METHODS))
    for kind, names, there in (("task", only, SUITE), ("method", methods, known)):
        for name in names:
            if name not in there:
                raise unknown_name(f"{kind} of the fixed gaps", name, there)

    return compare(
        fixed_gap_cases(),
        out,
        seeds=seeds,
        workers=workers,
        tasks=only,
        methods=methods,
        show=lambda comparisons: write_fixed_gaps(comparisons, command, results),
        watch=watch,
    )


def fixed_gap_cases() -> list[Case]:
    """What the suite compares."""
    return [
        Case(
            task=task,
            gap=gap,
            samples=BUDGETS[-1],
            entries=choose_entries(SUITE_METHODS),
            episodes=robot.episodes,
            oracle_episodes=robot.oracle_episodes,
            rounds=SUITE_ROUNDS,
            round_ends=SUITE_STOPS,
        )
        for task, robot in SUITE.items()
        for gap in robot.gaps
    ]
