"""Test a firmware: inflict faults on its robot and check the board's invariants."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.cli.firmware.run import FirmwareArgument, find_board, parse_arguments
from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.core import check_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isthmus.firmware.campaign import CaseResult, Subject
    from isthmus.firmware.faults import Case


@dataclass(frozen=True)
class Test:
    """Put a firmware through every fault there is, and judge each run by the board's invariants: made for CI.

    Example: `isthmus firmware test reference.elf --board quadruped --junit firmware.xml`

    Example: `isthmus firmware test reference.elf --board quadruped --case joint-silent imu-dead --out runs/faults`

    Example: `isthmus firmware test ./robot_daemon --board linux.toml`

    Exits with code 0 when every invariant held, 1 when one did not, 2 when the input is wrong.
    """

    firmware: FirmwareArgument
    board: str = "quadruped"
    """The board file; or quadruped or leg, the boards of the reference firmware."""
    case: tuple[str, ...] = ()
    """Cases to run; all of them when not given."""
    cases: bool = False
    """Only list the cases there are."""
    arguments: str = ""
    """What a Linux program is started with, as in a shell: "-c robot.ini --verbose"."""
    race: bool = False
    """Hunt for races besides: a minute with interrupts between any two instructions."""
    seed: int = 0
    """Decides noise, delays, losses and pushes."""
    junit: Path | None = None
    """Write a JUnit report to this file."""
    out: Path | None = None
    """A folder for campaign.json, and for a timeline around each violation. An interrupted campaign goes on there."""
    json: bool = False
    """Print the results as JSON only."""

    def run(self) -> None:
        """Run the cases, print a line for each, and exit with what was found."""
        from isthmus.firmware.campaign import Subject, summary
        from isthmus.firmware.faults import all_cases, choose, lacking
        from isthmus.io import make_folder

        check_range("seed", self.seed, 0, 2**63 - 1)
        board = find_board(self.board)
        every = all_cases(board, race=self.race or self.cases or "race-hunt" in self.case)
        if self.cases:
            print_table(
                "",
                ("case", "what is done", "not run"),
                [(c.name, c.what, lacking(c, board)) for c in choose(every, self.case)],
            )
            return
        subject = Subject.of(board, self.firmware, parse_arguments(self.arguments))
        for folder in (self.out, self.junit.parent if self.junit else None):
            if folder is not None:
                make_folder(folder)
        results = self._results(subject, choose(every, self.case))
        figures = {"firmware": str(self.firmware), "board": board.name, "seed": self.seed, **summary(results)}
        if self.junit is not None:
            from isthmus.firmware.junit import write_junit

            write_junit(self.junit, f"{self.firmware.name} on {board.name}", results)
        if self.json:
            print_json(figures)
        else:
            self._conclude(figures)
        if figures["violated"]:
            raise SystemExit(1)

    def _results(self, subject: "Subject", cases: "Sequence[Case]") -> "list[CaseResult]":
        """Run what an interrupted campaign in the same folder has not; the folder is up to date after every case."""
        from isthmus.firmware.campaign import run_campaign
        from isthmus.firmware.campaign_file import CampaignFile

        file = CampaignFile(self.out, subject, self.seed) if self.out else None
        done = file.results if file else {}
        left = [case for case in cases if case.name not in done]
        count = 0

        def finished(result: "CaseResult") -> None:
            nonlocal count
            count += 1
            if file:
                file.add(result)
            self._print(result, count + len(cases) - len(left), len(cases))

        ran = {one.name: one for one in run_campaign(subject, left, self.seed, timelines=self.out, finished=finished)}
        return [ran.get(case.name) or done[case.name] for case in cases]

    def _print(self, result: "CaseResult", number: int, of: int) -> None:
        console = stderr if self.json else stdout
        state = "skipped" if result.skipped else "ok" if result.passed else "FAILED"
        note = result.skipped or (result.sentences[0] if result.sentences else result.what)
        console.print(
            f"[{number:>2}/{of}] {state:<7} {result.name:<18} {result.seconds:5.1f} s  {note}", soft_wrap=True
        )
        for sentence in result.sentences[1:]:
            console.print(f"{'':>43}{sentence}", soft_wrap=True)
        if result.timeline:
            console.print(f"{'':>43}timeline: {result.timeline}", soft_wrap=True)

    def _conclude(self, figures: dict[str, Any]) -> None:
        from isthmus.firmware.daemon import BLIND
        from isthmus.firmware.elf import is_linux_program

        stdout.print(
            f"{figures['cases']} cases, {figures['violated']} with violations, {figures['skipped']} not run, "
            f"{figures['cpu_seconds']:.1f} s of CPU"
        )
        if is_linux_program(self.firmware):
            stdout.print(BLIND, soft_wrap=True)
