"""Fit actuator models to a robot's logs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, print_table, started_late, stderr, stdout
from isthmus.core import Problem
from isthmus.core.command import command_of

MODEL, MAPPING = "actuator.npz", "mapping.toml"


@dataclass(frozen=True)
class Fit:
    """Fit every kind of actuator model to logs, test them on held-out motion, and keep the best.

    Example: `isthmus actuator fit log.npz --robot go2 --out runs/go2-actuator`

    Example: `isthmus actuator fit pendulum/*.json --robot pendulum --out runs/xl330`

    Example: `isthmus actuator fit motions/* --robot joints --out runs/arm`

    With measured torque, models are fitted to it. Without, they are fitted by replaying the log through the robot's
    model.
    """

    logs: Annotated[
        Positional[tuple[Path, ...]],
        arg(metavar="LOG", help="npz, csv or json files, or folders with control.csv and state_motor.csv"),
    ]
    robot: str | None = None
    """The robot's body: an MJCF or URDF file, go2, anymal, pendulum, or joints where there is no model of it."""
    out: Path = Path("runs/actuator")
    """Folder for the model (actuator.npz), the mapping, the figures and the page."""
    mapping: Path | None = None
    """Which column is what (TOML); guessed and written to the folder when not given."""
    joints: tuple[str, ...] = ()
    """Names of the joints, in the log's order, where it has none."""
    without: tuple[str, ...] = ()
    """Joints to leave out."""
    rate: float | None = None
    """Rows a second, for a log without a time column."""
    angle: str | None = None
    """rad or deg, where the log does not say."""
    kp: tuple[float, ...] = ()
    """Gain that the drives were set to, in N m/rad: one, or one for each joint."""
    kd: tuple[float, ...] = ()
    """Damping that the drives were set to, in N m s/rad."""
    mass: float | None = None
    """Of a pendulum, in kg, where the log does not say."""
    length: float | None = None
    """Of a pendulum, in m, where the log does not say."""
    inputs: Path | None = None
    """A log of the joints under a policy: shows how much of what it asks for the data covers."""
    seconds: float = 1.0
    """Length of a replay."""
    seed: int = 0
    """Decides everything random."""
    quick: bool = False
    """A look in a minute: networks are hardly trained."""
    json: bool = False
    """Print the figures as JSON only."""

    def run(self) -> None:
        """Read, fit, test, write, print."""
        from dataclasses import replace

        from isthmus.actuators.fit.networks import with_note
        from isthmus.actuators.fit.study import QUICK, Effort, study
        from isthmus.actuators.reading import Mapping, read_logs
        from isthmus.actuators.reading.mapping import guess
        from isthmus.actuators.reading.table import read_table
        from isthmus.cli.actuator.robots import joints_for, plant_for
        from isthmus.experiments.actuator import write_results
        from isthmus.experiments.actuator.results import table, verdict

        if (self.out / MODEL).exists():
            raise Problem(f"{self.out} has a model already: give another folder with --out")
        mapping = Mapping.load(self.mapping) if self.mapping else guess(read_table(self.logs[0]), self.joints)
        joints = self.joints or mapping.joints
        if not joints and self.robot:
            sizes = [
                array.shape[1] if array.ndim > 1 else 1
                for name, array in read_table(self.logs[0]).columns.items()
                if name in mapping.columns["position"]
            ]
            joints = joints_for(self.robot, sum(sizes))
        given: dict[str, Any] = {"joints": joints, "without": self.without, "rate": self.rate, "angle": self.angle}
        reading = read_logs(list(self.logs), mapping, **given, kp=_numbers(self.kp), kd=_numbers(self.kd))
        facts = reading.facts | {name: value for name, value in (("mass", self.mass), ("length", self.length)) if value}
        plant = plant_for(self.robot, reading.log.joints, facts) if self.robot else None
        policy = read_logs([self.inputs], mapping, **given).log if self.inputs else None
        for note in reading.notes:
            stderr.print(f"note: {note}", soft_wrap=True)
        effort = QUICK if self.quick else Effort()
        effort = replace(
            effort,
            seconds=self.seconds,
            network=replace(effort.network, seed=self.seed),
            gru=replace(effort.gru, seed=self.seed),
            trials=replace(effort.trials, seed=self.seed),
        )
        with started_late(
            Progress(
                TextColumn("{task.description:<32}", markup=False), BarColumn(), TimeElapsedColumn(), console=stderr
            )
        ) as progress:
            bar = progress.add_task("reading", total=1.0)

            def report(name: str, done: float) -> None:
                progress.start()
                progress.update(bar, description=name, completed=done)

            done = study(reading.log, plant, effort, report)
        inputs = None if policy is None else np.stack((policy.error, policy.velocity), axis=-1)
        command = command_of(
            ("actuator", "fit", *map(str, self.logs)), {"robot": self.robot, "seed": self.seed, "seconds": self.seconds}
        )
        data = write_results(self.out, done, reading, plant, command, inputs)
        replace(reading.mapping, joints=reading.log.joints).save(self.out / MAPPING)
        logs = [path.name for path in self.logs]
        with_note(done.best.actuator, logs=logs, verdict=verdict(done), commit=data["commit"]).save(self.out / MODEL)
        if self.json:
            print_json(data)
            return
        columns, rows = table(done)
        print_table(
            f"{len(self.logs)} log{'s' * (len(self.logs) != 1)}, {reading.log.seconds:.0f} s, {done.parts.how}",
            columns,
            rows,
        )
        stdout.print(f"\n{verdict(done)}", soft_wrap=True)
        stdout.print(f"model: {self.out / MODEL}\npage:  {self.out / 'results.html'}", soft_wrap=True)


def _numbers(values: tuple[float, ...]) -> "np.ndarray | None":
    return np.array(values) if values else None
