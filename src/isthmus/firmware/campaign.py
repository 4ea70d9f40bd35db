"""Run a firmware through every case of a campaign and judge each run by the board's invariants."""

import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.firmware.board import Board
from isthmus.firmware.daemon import START_SECONDS, Run, run_daemon
from isthmus.firmware.elf import Elf, is_linux_program, read_elf
from isthmus.firmware.engine import Halt
from isthmus.firmware.faults import COUNTER_HZ, Case, lacking
from isthmus.firmware.invariants import Violation, judge, limits_of
from isthmus.firmware.loop import Loop
from isthmus.firmware.rig import TRACE as TRACE_TYPE
from isthmus.firmware.seen import Seen, seen_of
from isthmus.firmware.shim_host import Stuck, check_no_script, check_program
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


@dataclass(frozen=True)
class Subject:
    """What is tested: an ELF for the board's processor, or a Linux program for a board without one."""

    board: Board
    firmware: Path
    elf: Elf | None
    arguments: tuple[str, ...] = ()
    """What a Linux program is started with."""

    @staticmethod
    def of(board: Board, firmware: Path, arguments: tuple[str, ...] = ()) -> "Subject":
        """Read the firmware; one that does not fit the board is a Problem."""
        if board.is_linux:
            check_no_script(firmware)
        linux = is_linux_program(firmware)
        if linux != board.is_linux:
            fits = (
                "a Linux program, and the board has a [cpu]"
                if linux
                else "no Linux program, and the board has no [cpu]"
            )
            raise Problem(f"{firmware} is {fits}: give the board that it is made for ({board.path})")
        limits_of(board)  # an unknown invariant is a problem before anything runs
        if linux:
            return Subject(board, check_program(firmware), None, arguments)
        if arguments:
            raise Problem(f"{firmware} is no Linux program: it takes no arguments")
        return Subject(board, firmware, read_elf(firmware))


def run_case(subject: Subject, case: Case, seed: int, *, timelines: Path | None = None) -> CaseResult:
    """One run of the firmware in its loop with the faults of `case`."""
    board = subject.board
    if why := lacking(case, board):
        return CaseResult(case.name, case.what, 0.0, 0.0, skipped=why)
    started = cpu_seconds()
    violations, simulated, events = (
        _linux(subject, case, seed)
        if subject.elf is None
        else _emulated(board, subject.elf, case, seed, TRACE if timelines else 0)
    )
    page = ""
    if violations and timelines:
        title = f"{case.name}: {violations[0].sentence}"
        page = str(write_timeline(timelines / case.name, events, board, violations[0].at_s, title))
    return CaseResult(case.name, case.what, cpu_seconds() - started, simulated, tuple(violations), timeline=page)


def cpu_seconds() -> float:
    """CPU time of this process and of the programs it ran."""
    mine, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def _linux(subject: Subject, case: Case, seed: int) -> tuple[list[Violation], float, np.ndarray]:
    how = Run(case.motion, case.expect, subject.arguments, start_s=case.counter_offset / COUNTER_HZ or START_SECONDS)
    try:
        done = run_daemon(subject.firmware, subject.board, case.seconds, seed, case.knobs, how)
    except Stuck as stuck:
        return [Violation("stuck", 0.0, str(stuck), 1.0)], 0.0, np.zeros(0, TRACE_TYPE)
    found = list(done.violations)
    if done.exit_code == 0:
        note = f" ({done.refused})" if done.refused else ""
        sentence = f"the program ended with code 0 at {done.simulated_s:.3f} s{note}"
        found.append(Violation("exit", done.simulated_s, sentence, 0))
    return found, done.simulated_s, done.events


def _emulated(board: Board, elf: Elf, case: Case, seed: int, trace: int) -> tuple[list[Violation], float, np.ndarray]:
    with Loop(board, elf, exact=case.exact, trace=trace) as loop:
        violations, simulated = _judged(loop, board, case, seed)
        return violations, simulated, loop.trace_events() if trace else np.zeros(0, TRACE_TYPE)


def observe(loop: Loop, case: Case, seed: int) -> Seen:
    """What is seen of a run with the faults of `case`; a processor that cannot go on raises Halt."""
    loop.faults(case.knobs)
    loop.reset(seed, counter_offset=case.counter_offset)
    seen = seen_of(loop.play(case.motion, case.seconds, seed), loop.counters, loop.board)
    return replace(seen, upright=None) if case.turntable else seen  # what is turned does not fall


def _judged(loop: Loop, board: Board, case: Case, seed: int) -> tuple[list[Violation], float]:
    try:
        seen = observe(loop, case, seed)
    except Halt as halt:
        return [Violation("halt", halt.seconds, str(halt), 1.0)], halt.seconds
    limits = {name: value * case.limits.get(name, 1) for name, value in limits_of(board).items()}
    return judge(seen, limits, case.expect), case.seconds


def run_campaign(
    subject: Subject,
    cases: Sequence[Case],
    seed: int = 0,
    *,
    timelines: Path | None = None,
    finished: Callable[[CaseResult], None] = lambda _: None,
) -> list[CaseResult]:
    """Every case, one after the other; `finished` is told of each."""
    results: list[CaseResult] = []
    for case in cases:
        results.append(run_case(subject, case, seed, timelines=timelines))
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
