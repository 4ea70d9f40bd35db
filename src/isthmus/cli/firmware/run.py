"""Run a firmware in the loop with its robot."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, UseAppendAction, arg

from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.core import Problem, check_range

if TYPE_CHECKING:
    from isthmus.core import Float
    from isthmus.firmware.board import Board
    from isthmus.firmware.loop import Loop
    from isthmus.firmware.record import Record

FirmwareArgument = Annotated[
    Positional[Path],
    arg(metavar="FIRMWARE", help="An ELF for a Cortex-M4, or a Linux program, which is run."),
]
TRACE = 1 << 18
"""Events that are kept: some five seconds."""
LONGEST = 3600.0
"""Simulated seconds of a run."""


@dataclass(frozen=True)
class Run:
    """Run a firmware in lockstep with its robot on simulated time, and check the board's invariants.

    Example: `isthmus firmware run reference.elf --board quadruped --task squat --seconds 5 --out runs/squat`

    Example: `isthmus firmware run reference.elf --board my_board.toml --fault "can*.loss=0.02" --fault imu.dead_from=3`

    Example: `isthmus firmware run ./robot_daemon --arguments="-c robot.ini" --board linux_board.toml`

    Exits with code 1 when an invariant does not hold.
    """

    firmware: FirmwareArgument
    board: str = "quadruped"
    """The board file; or quadruped or leg, the boards of the reference firmware."""
    task: str = "stand"
    """What the host asks of the robot: stand, squat, push, walk or turntable."""
    seconds: float = 5.0
    """Simulated seconds."""
    seed: int = 0
    """Decides noise, delays, losses and pushes: same seed, same trace, byte for byte."""
    fault: UseAppendAction[tuple[str, ...]] = ()
    """Parameters and faults, as in can*.loss=0.02 or imu.dead_from=3; a name that does not exist lists them all."""
    exact: bool = False
    """Let interrupts come between any two instructions, not only between basic blocks: finds races, takes longer."""
    counter_offset: int = 0
    """What free-running timers begin with: 4290000000 is shortly before a 32-bit counter wraps."""
    wall_seconds: float = 600.0
    """The processor is stopped when this much time has gone by on the wall's clock."""
    level: bool = False
    """Ask the reference firmware to level the body by its network."""
    arguments: str = ""
    """What a Linux program is started with, as in a shell: "-c robot.ini --verbose"."""
    out: Path | None = None
    """A folder for the result (result.json), the trace (trace.json) and the timeline (timeline.html)."""
    json: bool = False
    """Print the result as JSON only."""

    def run(self) -> None:
        """Run, show how it goes, print what was found."""
        from isthmus.firmware.elf import is_linux_program
        from isthmus.firmware.shim_host import check_no_script
        from isthmus.io import make_folder

        check_range("seconds", self.seconds, 0.01, LONGEST)
        check_range("seed", self.seed, 0, 2**63 - 1)
        check_range("wall-seconds", self.wall_seconds, 0.1, 1e6)
        check_range("counter-offset", self.counter_offset, 0, 2**32 - 1)
        board = find_board(self.board)
        if self.out is not None:
            make_folder(self.out)
        if board.is_linux:
            check_no_script(self.firmware)
        if is_linux_program(self.firmware):
            self._linux(board)
            return
        if self.arguments:
            raise Problem(f"{self.firmware} is no Linux program: it takes no --arguments")
        result = self._emulated(board)
        if self.out is not None:
            self._write(result)
        if self.json:
            print_json(result)
        else:
            print_result(result)
        if result["violations"] or result["halt"]:
            raise SystemExit(1)

    def _emulated(self, board: "Board") -> dict[str, Any]:
        from isthmus.cli.firmware.display import live
        from isthmus.core.commit import current_commit
        from isthmus.firmware.elf import read_elf
        from isthmus.firmware.engine import Halt
        from isthmus.firmware.invariants import check, limits_of
        from isthmus.firmware.loop import Loop
        from isthmus.firmware.motions import motion_of
        from isthmus.firmware.record import joined

        motion, elf, faults = motion_of(self.task), read_elf(self.firmware), parse_faults(self.fault)
        limits_of(board)
        options: dict[str, Any] = {"exact": self.exact, "wall_seconds": self.wall_seconds, "policy": self.level}
        with Loop(board, elf, trace=TRACE, **options) as loop:
            loop.faults(faults)
            loop.reset(self.seed, counter_offset=self.counter_offset)
            records: list[Record] = []
            halt: Halt | None = None
            with live(loop, self.seconds) as show:
                while loop.time < self.seconds - loop.timestep / 2 and halt is None:
                    try:
                        records.append(loop.play(motion, min(0.1, self.seconds - loop.time), self.seed))
                    except Halt as error:
                        halt = error
                    show()
            record = joined(records) if records else None
            found = check(record, loop.counters, board) if record is not None and loop.rig.joints else []
            page = self._timeline(loop, board, found[0].at_s if found else None)
            return {
                "firmware": str(self.firmware),
                "board": board.name,
                "task": self.task,
                "seed": self.seed,
                "faults": faults,
                "commit": current_commit(),
                "violations": [violation.to_json() for violation in found],
                "halt": None if halt is None else {"sentence": str(halt), "code": halt.code, "at_s": halt.seconds},
                "counters": loop.counters.to_json(),
                "timing": timing(record, board) if record is not None else {},
                "watch": watched(record) if record is not None else {},
                "not_watched": [one.symbol for name, one in board.watch.items() if record and name not in record.watch],
                "console": getattr(loop.link, "text", ""),
                "timeline": str(page) if page else None,
            }

    def _timeline(self, loop: "Loop", board: "Board", around: float | None) -> Path | None:
        if self.out is None:
            return None
        from isthmus.firmware.timeline import write_timeline

        return write_timeline(self.out, loop.trace_events(), board, loop.time if around is None else around)

    def _write(self, result: dict[str, Any]) -> None:
        from isthmus.io import write_json

        assert self.out is not None  # noqa: S101
        write_json(self.out / "result.json", result)

    def _linux(self, board: "Board") -> None:
        from isthmus.firmware.daemon import Run as How
        from isthmus.firmware.daemon import run_daemon
        from isthmus.firmware.motions import motion_of

        if self.exact or self.counter_offset or self.level:
            raise Problem(
                "--exact, --counter-offset and --level are for emulated boards: a Linux program is not emulated"
            )
        how = How(
            motion_of(self.task), arguments=parse_arguments(self.arguments), wall_s=min(self.wall_seconds, How.wall_s)
        )
        done = run_daemon(self.firmware, board, self.seconds, self.seed, parse_faults(self.fault), how)
        if self.out is not None:
            from isthmus.firmware.timeline import write_timeline

            self._write(done.to_json())
            write_timeline(self.out, done.events, board, None)
        if self.json:
            print_json(done.to_json())
        else:
            stdout.print("\n".join(done.lines()), soft_wrap=True)
        if done.violations:
            raise SystemExit(1)


def find_board(text: str) -> "Board":
    """The board of a name that ships, or of a file."""
    from isthmus.firmware.board import load_board
    from isthmus.firmware.robot import FOLDER, NAMED

    if text in NAMED:
        return load_board(FOLDER / f"{text}.toml")
    if not Path(text).is_file():
        raise Problem(f"there is no board file {text}: give a TOML file, or {' or '.join(NAMED)}")
    return load_board(Path(text))


def parse_arguments(text: str) -> tuple[str, ...]:
    """Words as a shell has them."""
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise Problem(f"arguments {text!r} are not words of a shell: {error}") from None


def parse_faults(texts: tuple[str, ...]) -> dict[str, float]:
    """Parameters and faults as given on the command line."""
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not equals or not name or not abs(number) <= 1e12:
            raise Problem(f"fault {text!r} needs a name and a number, as in can*.loss=0.02")
        found[name] = number
    return found


def timing(record: "Record", board: "Board") -> dict[str, float]:
    """What an engineer looks at first: how old commands and samples get, how busy the processor is."""
    import numpy as np

    settled = slice(min(300, len(record) // 2), None)

    def largest(values: "Float") -> float:
        finite = values[settled][np.isfinite(values[settled])]
        return round(float(finite.max()) * 1e3, 3) if finite.size else 0.0

    step = float(record.time[1] - record.time[0]) if len(record) > 1 else 1e-3
    per_ms = record.instructions[settled] * 1e-3 / step
    return {
        "longest_command_gap_ms": largest(record.command_gap),
        "oldest_sample_ms": largest(record.sample_age),
        "instructions_per_ms_mean": round(float(per_ms.mean()), 1) if len(per_ms) else 0.0,
        "instructions_per_ms_most": round(float(per_ms.max()), 1) if len(per_ms) else 0.0,
        "host_period_ms": board.host.period_ms,
    }


def watched(record: "Record") -> dict[str, dict[str, list[float]]]:
    """The variables that the board file names: least and most of each element, and what it was last."""
    return {
        name: {"least": values.min(0).tolist(), "most": values.max(0).tolist(), "last": values[-1].tolist()}
        for name, values in record.watch.items()
        if len(values)
    }


def print_result(result: dict[str, Any]) -> None:
    """For people."""
    counters, moved = result["counters"], result["timing"]
    rows = [
        (f"bus {name}", f"{load:.1%} busy", f"{counters['bus_errors'][name]} errors")
        for name, load in counters["bus_load"].items()
    ]
    rows.append(
        ("processor", f"{1 - counters['idle_share']:.1%} busy", f"{counters['watchdog_resets']} watchdog resets")
    )
    if moved:
        rows.append(("commands", f"gap at most {moved['longest_command_gap_ms']:.2f} ms", ""))
        rows.append(("samples", f"at most {moved['oldest_sample_ms']:.2f} ms old", ""))
    for name, seen in result["watch"].items():
        last = f"last {seen['last'][0]:g}" if len(seen["last"]) == 1 else f"{len(seen['last'])} elements"
        rows.append((name, f"{min(seen['least']):g} to {max(seen['most']):g}", last))
    print_table(
        f"{result['firmware']} on {result['board']}: {counters['seconds']:.3f} s", ("part", "load", "trouble"), rows
    )
    if result["console"]:
        stdout.print(result["console"], soft_wrap=True)
    for symbol in result["not_watched"]:
        stdout.print(f"the firmware has no variable {symbol}: it cannot be watched", soft_wrap=True)
    for violation in result["violations"]:
        stdout.print(f"violated {violation['name']}: {violation['sentence']}", soft_wrap=True)
    if result["halt"]:
        stderr.print(f"the processor stopped: {result['halt']['sentence']}", soft_wrap=True)
    elif not result["violations"]:
        stdout.print("every invariant held")
    if result["timeline"]:
        stdout.print(f"timeline: {result['timeline']}", soft_wrap=True)
