"""Run a firmware through every case of a campaign and judge each run by the board's invariants."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isthmus.firmware.board import Board
from isthmus.firmware.elf import Elf
from isthmus.firmware.faults import Case, lacking
from isthmus.firmware.invariants import Violation, judge, limits_of
from isthmus.firmware.engine import Halt
from isthmus.firmware.loop import Loop
from isthmus.firmware.seen import seen_of
from isthmus.firmware.timeline import write_timeline

TRACE = 1 << 18
"""Events of the ring that is kept for a timeline: some 5 s of a busy board."""


@dataclass(frozen=True)
class CaseResult:
    """How a case went."""

    name: str
    what: str
    seconds: float
    """CPU time."""
    simulated_s: float
    violations: tuple[Violation, ...] = ()
    skipped: str = ""
    timeline: str = ""
    """The page with what happened around the first violation, if one was written."""

    @property
    def sentences(self) -> Sequence[str]:
        """What went wrong, a sentence each."""
        return [violation.sentence for violation in self.violations]

    @property
    def passed(self) -> bool:
        """Whether every invariant held."""
        return not self.violations

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "what": self.what,
            "passed": self.passed,
            "skipped": self.skipped,
            "cpu_seconds": round(self.seconds, 3),
            "simulated_seconds": self.simulated_s,
            "violations": [violation.to_json() for violation in self.violations],
            "timeline": self.timeline,
        }


def run_case(board: Board, elf: Elf, case: Case, seed: int, *, timelines: Path | None = None) -> CaseResult:
    """One run of the firmware in its loop with the faults of `case`."""
    if why := lacking(case, board):
        return CaseResult(case.name, case.what, 0.0, 0.0, skipped=why)
    started = time.process_time()
    with Loop(board, elf, exact=case.exact, trace=TRACE if timelines else 0) as loop:
        violations, simulated = _judged(loop, board, case, seed)
        page = ""
        if violations and timelines:
            title = f"{case.name}: {violations[0].sentence}"
            page = str(write_timeline(timelines / case.name, loop.trace_events(), board, violations[0].at_s, title))
    return CaseResult(case.name, case.what, time.process_time() - started, simulated, tuple(violations), timeline=page)


def _judged(loop: Loop, board: Board, case: Case, seed: int) -> tuple[list[Violation], float]:
    loop.faults(case.knobs)
    loop.reset(seed, counter_offset=case.counter_offset)
    try:
        record = loop.play(case.motion, case.seconds, seed)
    except Halt as halt:
        return [Violation("halt", halt.seconds, str(halt), 1.0)], halt.seconds
    seen = seen_of(record, loop.counters, board)
    if case.turntable:
        seen = replace(seen, upright=None)  # it is turned, it does not fall
    limits = {name: value * case.limits.get(name, 1) for name, value in limits_of(board).items()}
    return judge(seen, limits, case.expect), case.seconds


def run_campaign(
    board: Board,
    elf: Elf,
    cases: Sequence[Case],
    seed: int = 0,
    *,
    timelines: Path | None = None,
    finished: Callable[[CaseResult], None] = lambda result: None,
) -> list[CaseResult]:
    """Every case, one after the other; `finished` is told of each."""
    limits_of(board)  # an unknown invariant is a problem before anything runs
    results: list[CaseResult] = []
    for case in cases:
        results.append(run_case(board, elf, case, seed, timelines=timelines))
        finished(results[-1])
    return results


def summary(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Counts and CPU time of a campaign, and every result."""
    ran = [result for result in results if not result.skipped]
    return {
        "cases": len(ran),
        "violated": sum(not result.passed for result in ran),
        "skipped": len(results) - len(ran),
        "cpu_seconds": round(sum(result.seconds for result in ran), 3),
        "results": [result.to_json() for result in results],
    }
