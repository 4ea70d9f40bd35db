"""The campaign on the reference firmware: clean over many seeds, and with each seeded bug in it."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.firmware.board import Board, load_board
from isthmus.firmware.campaign import Subject, run_campaign
from isthmus.firmware.elf import read_elf
from isthmus.firmware.faults import all_cases, choose
from isthmus.firmware.harm import HARMS, measure
from isthmus.firmware.reference import BUGS, build_reference
from isthmus.firmware.robot import FOLDER

HARM_SEEDS = (0, 1, 2)
FIRST_SEED = 10
"""Of the clean campaigns: smaller ones were looked at while the cases were made."""
RACE_SEEDS = (0, 1)
"""Seeds of the clean firmware's race hunts, which are apart from the campaign."""


@dataclass(frozen=True)
class Cell:
    """One firmware and one seed, through the campaign, the race hunt, or the run that shows what a bug does."""

    kind: str
    """campaign, race or harm."""
    bug: str
    """Empty for the clean firmware."""
    seed: int

    @property
    def name(self) -> str:
        """How the cell is known in the file."""
        return f"{self.kind}/{self.bug or 'clean'}/{self.seed}"


def cells(seeds: int) -> list[Cell]:
    """All cells, the ones that matter most first."""
    made = [Cell("campaign", bug, 0) for bug in BUGS if bug != "isr-race"]
    made += [Cell("race", "isr-race", 0), *(Cell("race", "", seed) for seed in RACE_SEEDS)]
    made += [Cell("campaign", "", seed) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
    return [*made, *(Cell("harm", bug, seed) for bug in BUGS for seed in HARM_SEEDS)]


def run_cell(cell: Cell) -> dict[str, Any]:
    """The figures of one cell."""
    board = load_board(FOLDER / "quadruped.toml")
    if cell.kind == "harm":
        return _harm(board, cell)
    subject = Subject.of(board, build_reference((cell.bug,) if cell.bug else ()))
    wanted = ["race-hunt"] if cell.kind == "race" else []
    results = run_campaign(subject, choose(all_cases(board, race=cell.kind == "race"), wanted), cell.seed)
    ran = [one for one in results if not one.skipped]
    return {
        "cases": len(ran),
        "violated": {one.name: [v.sentence for v in one.violations] for one in ran if not one.passed},
        "cpu_seconds": round(sum(one.seconds for one in ran), 2),
        "simulated_seconds": sum(one.simulated_s for one in ran),
    }


def _harm(board: Board, cell: Cell) -> dict[str, Any]:
    harm = HARMS[cell.bug]
    (case,) = choose(all_cases(board, race=True), [harm.case])
    elfs = {"clean": read_elf(build_reference()), "bug": read_elf(build_reference((cell.bug,)))}
    figures = {name: measure(board, elf, case, harm.measure, cell.seed) for name, elf in elfs.items()}
    return {"case": harm.case, "measure": harm.measure, **figures}


def run_study(
    left: list[Cell], workers: int, finished: Callable[[Cell, dict[str, Any]], None] = lambda _cell, _figures: None
) -> None:
    """Run cells, some at a time; `finished` is told of each."""
    if workers == 1:
        for cell in left:
            finished(cell, run_cell(cell))
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(run_cell, cell): cell for cell in left}
        for done in as_completed(waiting):
            finished(waiting[done], done.result())


def conclusions(done: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the cells that are there come to."""
    clean = {name: one for name, one in done.items() if name.startswith("campaign/clean/")}
    caught: dict[str, list[str]] = {}
    for name, one in done.items():
        kind, bug, _ = name.split("/")
        if kind in ("campaign", "race") and bug != "clean" and one["violated"]:
            caught.setdefault(bug, []).extend(one["violated"])
    return {
        "bugs": len(BUGS),
        "caught": {bug: caught[bug] for bug in BUGS if bug in caught},
        "clean_campaigns": len(clean),
        "false_alarms": sum(len(one["violated"]) for one in clean.values()),
        "race_hunts_false_alarms": sum(
            len(one["violated"]) for name, one in done.items() if name.startswith("race/clean/")
        ),
        "cpu_seconds_of_a_campaign": [one["cpu_seconds"] for one in clean.values()],
        "harm": _harms(done),
    }


def _harms(done: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for bug, harm in HARMS.items():
        ran = [one for name, one in done.items() if name.startswith(f"harm/{bug}/")]
        if ran:
            found[bug] = {
                "case": harm.case,
                "measure": harm.measure,
                "clean": [_rounded(one["clean"]) for one in ran],
                "bug": [_rounded(one["bug"]) for one in ran],
            }
    return found


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 5)


def commands_file(out: Path) -> Path:
    """Where the study's figures go."""
    return out / "firmware-campaign.json"
