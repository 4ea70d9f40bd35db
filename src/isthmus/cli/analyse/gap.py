"""The gap report: where a simulator differs from a robot's logs, and why."""

from dataclasses import dataclass
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from isthmus.cli.output import print_json, print_table, started_late, stderr, stdout
from isthmus.core import Problem
from isthmus.core.command import command_of


@dataclass(frozen=True)
class AnalyseGap:
    """Where, in which joint, at which frequency and why a simulator differs from a robot's logs.

    Example: `isthmus analyse gap --logs run1.csv run2.csv run3.csv --robot arm.xml --map arm.logmap.toml`

    Example: `isthmus analyse gap --logs bags/*.mcap --robot my_robot.py --out runs/gap`

    Recordings are replayed open loop in the simulator, for a step, 100 ms and 1 s. Some of them are fitted to, some
    choose between explanations, and the rest is judged once.
    """

    logs: tuple[Path, ...] = ()
    """Logs of the robot: several recordings, or one that is long enough to be cut into blocks."""
    robot: str = ""
    """The robot: an MJCF or URDF file, a task, a robot file as in my_robot.py, which is code and is run,
    go2 or qube."""
    map: Path | None = None
    """Which column is which joint (`isthmus logs map`); guessed when not given."""
    train: int | None = None
    """Recordings to fit to; about 60 % when not given."""
    kp: tuple[float, ...] = ()
    """Gain that the drives were set to, in N m/rad, where commands are positions: one, or one for each."""
    kd: tuple[float, ...] = ()
    """Damping that the drives were set to, in N m s/rad."""
    out: Path = Path("runs/gap")
    """Folder for the page (gap.html), its figures (gap.json) and its drawing."""
    json: bool = False
    """Print the figures as JSON only."""

    def run(self) -> None:
        """Read, compare, explain, write, print."""
        from isthmus.cli.analyse.recorded import load_recorded
        from isthmus.experiments.gap import write_gap_report
        from isthmus.experiments.gap.results import table, verdict
        from isthmus.replay.advice import grouped, next_steps
        from isthmus.replay.gap import analyse

        if not self.robot:
            raise Problem("say which robot the logs are of, as in --robot my_robot.xml")
        found = load_recorded(self.logs, self.robot, self.map, self.kp, self.kd)
        for note in found.notes:
            stderr.print(f"note: {note}", soft_wrap=True)
        with started_late(
            Progress(
                TextColumn("{task.description:<32}", markup=False), BarColumn(), TimeElapsedColumn(), console=stderr
            )
        ) as progress:
            bar = progress.add_task("reading", total=1.0)

            def report(what: str, done: float) -> None:
                progress.start()
                progress.update(bar, description=what, completed=done)

            done = analyse(found.model, found.recording, train=self.train, report=report)
        logs = [str(path) for path in self.logs]
        options = {
            "logs": logs,
            "robot": self.robot,
            "map": self.map,
            "train": self.train,
            "kp": self.kp,
            "kd": self.kd,
        }
        steps = next_steps(done, logs, self.robot, None if self.map is None else str(self.map))
        data = write_gap_report(self.out, done, command_of(("analyse", "gap"), options), found.notes, steps)
        if self.json:
            print_json(data)
            return
        columns, rows = table(done)
        print_table(
            f"{len(logs)} log{'s' * (len(logs) != 1)}, {found.recording.seconds:.0f} s, {done.parts.how}", columns, rows
        )
        stdout.print(f"\n{verdict(done)}", soft_wrap=True)
        shares = ", ".join(f"{name} {share:.0%}" for name, share in grouped(done).items())
        stdout.print(f"explained: {shares}", soft_wrap=True)
        for step in steps:
            stdout.print(f"next: {step}", soft_wrap=True)
        stdout.print(f"page: {self.out / 'gap.html'}", soft_wrap=True)
