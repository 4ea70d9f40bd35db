"""Run the suite: every method across the calibrated gaps, from every seed."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from isthmus.adapt import MethodSettings
from isthmus.core import Problem, unknown_name
from isthmus.experiments.comparison.case import UNADAPTED, Case, Entry, choose_entries
from isthmus.experiments.comparison.cells import method_cell, method_file
from isthmus.experiments.grid import Json, Progress, Watch, check_counts, run_grid
from isthmus.experiments.store import CellFiles
from isthmus.experiments.suite.calibration import Calibration
from isthmus.experiments.suite.outcomes import Crossing, Outcome, Outcomes
from isthmus.experiments.suite.settings import EPISODES, METHODS
from isthmus.experts import conditioned_path, robust_path
from isthmus.transfer import PolicyFile


def check_suite(methods: Sequence[str], *, may_retrain: bool, **counts: int) -> None:
    """Refuse, before anything is calibrated, methods that do not take part and counts below 1."""
    check_counts(**counts)
    _check_methods(methods, _entries(may_retrain))


def crossings(
    calibrations: Sequence[Calibration],
    *,
    rungs: Sequence[float],
    budgets: Sequence[int],
    policy: PolicyFile | None = None,
    settings: MethodSettings | None = None,
) -> list[Crossing]:
    """What there is to be crossed, rung by rung; a gap that stands on several rungs is crossed once.

    With `settings` that let `auto` retrain, it alone takes part.
    """
    settings = settings or MethodSettings()
    every = _entries(settings.may_retrain)
    found: dict[tuple[str, str], Crossing] = {}
    for share in rungs:
        for calibration in calibrations:
            for one in calibration.families:
                for rung in one.rungs:
                    if rung.share == share and (calibration.task, rung.gap) not in found:
                        case = Case(
                            calibration.task,
                            rung.gap,
                            budgets[-1],
                            tuple(entry for entry in every if _is_there(entry, calibration.task, policy)),
                            default_episodes=EPISODES,
                            metrics=(),
                            round_ends=tuple(budgets),
                            policy=policy,
                            settings=settings,
                        )
                        found[calibration.task, rung.gap] = Crossing(one.family, share, case)
    return list(found.values())


def _entries(may_retrain: bool) -> list[Entry]:
    """Who takes part: `auto` alone where it may train the policy on."""
    names = "auto" if may_retrain else METHODS
    return [entry for entry in choose_entries(names) if entry.method != UNADAPTED]


def _check_methods(names: Sequence[str], entries: Sequence[Entry]) -> None:
    known = dict.fromkeys(entry.method for entry in entries)
    for name in names:
        if name not in known:
            raise unknown_name("method of the suite", name, known)


def run_suite(
    chosen: Sequence[Crossing],
    out: Path,
    *,
    seeds: int,
    methods: Sequence[str] = (),
    workers: int = 1,
    show: Callable[[Outcomes], None] = lambda _outcomes: None,
    watch: Watch[Json] = lambda _progress: None,
) -> Outcomes:
    """Run the cells that are not stored in `out`, seed by seed; `show` gets all outcomes after every cell.

    If `methods` are named, only these are run, and the others are shown as far as they are stored.
    """
    check_counts(seeds=seeds, workers=workers)
    _check_methods(methods, [entry for one in chosen for entry in one.case.entries])
    if not chosen:
        raise Problem("no gap is calibrated on these rungs: choose others")
    every = [
        (one, entry, seed)
        for seed in range(seeds)
        for one in chosen
        for entry in sorted(one.case.entries, key=lambda entry: _place(entry, methods))
    ]
    cells = [method_cell(one.case, entry, seed) for one, entry, seed in every]
    wanted = {
        cell.file for cell, (_, entry, _) in zip(cells, every, strict=True) if not methods or entry.method in methods
    }

    def outcomes(found: Mapping[str, Json]) -> Outcomes:
        files = [(method_file(one.case, entry, seed), one, entry, seed) for one, entry, seed in every]
        there = [
            Outcome.of(one, entry, seed, found[file])
            for file, one, entry, seed in files
            if file in found and "problem" not in found[file]
        ]
        return Outcomes(tuple(there), chosen[0].case.round_ends, len(wanted - set(found)))

    def after(progress: Progress[Json]) -> None:
        show(outcomes(progress.found))
        watch(progress)

    return outcomes(run_grid(cells, CellFiles(out), after, workers=workers, wanted=wanted))


def _is_there(entry: Entry, task: str, policy: PolicyFile | None) -> bool:
    """Whether a policy ships that a method needs."""
    if entry.method == "conditioned":
        return policy is None and conditioned_path(task).exists()
    return entry.method != "robust" or robust_path(task).exists()


def _place(entry: Entry, methods: Sequence[str]) -> int:
    """Methods run in the order in which they are named."""
    return methods.index(entry.method) if entry.method in methods else len(methods)
