"""Fit a statistical twin to a firmware in its loop."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import UseAppendAction

from isthmus.cli.firmware.run import FirmwareArgument, find_board, parse_arguments, parse_faults
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core import Problem, check_range

if TYPE_CHECKING:
    import numpy as np

    from isthmus.firmware.board import Board
    from isthmus.firmware.twin import Twin

LONGEST = 300.0
EVENTS_A_SECOND = 80_000
"""More than a busy board of twelve joints leaves in its trace."""


@dataclass(frozen=True)
class FitTwin:
    """Record how old what a firmware works with is, joint by joint, and keep that for training in a batched world.

    Example: `isthmus firmware twin reference.elf --board quadruped --out twin.npz`

    Example: `isthmus firmware twin leg.elf --board leg --fault usart1.delay_ms=10 --out late.npz`

    `isthmus policy train --twin FILE` trains a policy behind it.

    The table compares the twin with another run of the firmware (KS is the Kolmogorov-Smirnov distance of the ages).
    Its last column is how late what the host asks for is, on average.
    """

    firmware: FirmwareArgument
    board: str = "quadruped"
    """The board file; or quadruped or leg, the boards of the reference firmware."""
    task: str = "squat"
    """What the host asks of the robot meanwhile."""
    fault: UseAppendAction[tuple[str, ...]] = ()
    """Parameters and faults, as in usart1.delay_ms=10 or can*.loss=0.02: the twin has them too."""
    arguments: str = ""
    """What a Linux program is started with, as in a shell: "-c robot.ini --verbose"."""
    seconds: float = 20.0
    """Simulated seconds that are recorded."""
    seed: int = 0
    """Of the recording; the run it is compared with has the next."""
    out: Path = Path("twin.npz")
    """Where to write the twin."""
    json: bool = False
    """Print the figures as JSON only."""

    def run(self) -> None:
        """Record, fit, write and compare."""
        from isthmus.firmware.twin import fit_twin, quanta_of
        from isthmus.io import make_folder

        check_range("seconds", self.seconds, 2.0, LONGEST)
        check_range("seed", self.seed, 0, 2**63 - 2)
        make_folder(self.out.parent)
        board = find_board(self.board)
        if not board.joints:
            raise Problem(f"{board.path} has no motors: there is nothing to fit a twin to")
        twin = fit_twin(self._trace(board, self.seed), board.joints, *quanta_of(board))
        twin.save(self.out)
        figures = self._compare(twin, self._trace(board, self.seed + 1))
        if self.json:
            print_json(
                {
                    "firmware": str(self.firmware),
                    "board": board.name,
                    "period_ms": twin.period_s * 1e3,
                    "joints": figures,
                }
            )
            return
        rows = [
            (name, *(f"{one[key]:.3f}" for key in ("mean_ms", "p95_ms", "most_ms", "ks", "target_ms")))
            for name, one in figures.items()
        ]
        print_table(
            f"age of samples when used, {board.name}",
            ("joint", "mean ms ", "95 % ms ", "most ms ", "KS ", "target late ms "),
            rows,
        )
        stdout.print(f"twin: {self.out}", soft_wrap=True)

    def _trace(self, board: "Board", seed: int) -> "np.ndarray":
        from isthmus.firmware.daemon import Run, run_daemon
        from isthmus.firmware.elf import is_linux_program, read_elf
        from isthmus.firmware.loop import Loop
        from isthmus.firmware.motions import motion_of

        faults = parse_faults(self.fault)
        if is_linux_program(self.firmware):
            how = Run(motion_of(self.task), arguments=parse_arguments(self.arguments))
            return run_daemon(self.firmware, board, self.seconds, seed, faults, how).events
        with Loop(board, read_elf(self.firmware), trace=int(EVENTS_A_SECOND * self.seconds)) as loop:
            loop.faults(faults)
            loop.reset(seed)
            loop.play(motion_of(self.task), self.seconds, seed)
            return loop.trace_events()

    def _compare(self, twin: "Twin", events: "np.ndarray") -> dict[str, Any]:
        import numpy as np

        from isthmus.firmware.twin import ages_of, kolmogorov_smirnov, replayed_ages

        figures: dict[str, Any] = {}
        replayed = replayed_ages(twin, n=64, calls=400, seed=self.seed)
        for joint, name in enumerate(twin.joints):
            recorded, ages = ages_of(events, joint, after_s=1.0), 1e3 * twin.ages_s[joint]
            figures[name] = {
                "mean_ms": round(float(ages.mean()), 4),
                "p95_ms": round(float(np.quantile(ages, 0.95)), 4),
                "most_ms": round(float(ages.max()), 4),
                "ks": round(kolmogorov_smirnov(replayed[joint], recorded), 4),
                "target_ms": round(1e3 * float(twin.action_ages_s[joint].mean()), 4),
            }
        return figures
