"""Run the cells of comparisons."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from isthmus.experiments.comparison.case import Case
from isthmus.experiments.comparison.cells import method_cell, oracle_cell
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.grid import Json, Progress, Watch, check_counts, run_grid
from isthmus.experiments.store import CellFiles


def compare(
    cases: Sequence[Case],
    out: Path,
    *,
    seeds: int,
    workers: int = 1,
    tasks: Collection[str] = (),
    methods: Collection[str] = (),
    show: Callable[[list[Comparison]], None] = lambda _comparisons: None,
    watch: Watch[Json] = lambda _progress: None,
) -> list[Comparison]:
    """Run the cells that are not stored in `out`; `show` gets all comparisons at the start and after every cell.

    If `tasks` or `methods` are named, only cells of these are run, without the oracles where methods are named. The
    others are shown if they are stored.
    """
    check_counts(seeds=seeds, workers=workers)
    chosen = [case for case in cases if not tasks or case.task in tasks]
    for case in chosen:
        case.check()
    # Seed by seed, so that a comparison that is stopped early has some of everything; oracles after the first seed.
    first, *others = (
        [(case, entry.method, method_cell(case, entry, seed)) for case in cases for entry in case.entries]
        for seed in range(seeds)
    )
    oracles = [(case, "", oracle_cell(case, metric)) for case in cases for metric in case.metrics]
    cells = [*first, *oracles, *(one for some in others for one in some)]
    wanted = {cell.file for case, method, cell in cells if case in chosen and (not methods or method in methods)}

    def comparisons(found: Mapping[str, Json]) -> list[Comparison]:
        return [Comparison.of(case, found, seeds) for case in cases]

    def after(progress: Progress[Json]) -> None:
        show(comparisons(progress.found))
        watch(progress)

    store = CellFiles(out)
    return comparisons(run_grid([cell for *_, cell in cells], store, after, workers=workers, wanted=wanted))
