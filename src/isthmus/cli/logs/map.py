"""Propose how a log maps to a robot."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from isthmus.cli.output import print_json, print_table, stdout

if TYPE_CHECKING:
    from isthmus.logs.assemble import Found, Proposal
    from isthmus.logs.log_map import LogMap, Source

OUT = Path("robot.logmap.toml")


@dataclass(frozen=True)
class Map:
    """Propose which column of a log is which joint of a robot, with its sign, unit and zero, for you to edit.

    Names are tried first, then the motion: the reading of the columns whose torques, by the model's inverse dynamics,
    explain the commands best. What the motion does not decide is said, and kept as the log has it.

    Example: `isthmus logs map chirps.npz --robot go2`

    Example: `isthmus logs map arm.csv --robot arm.py --out arm.logmap.toml`

    Example: `isthmus logs map swing.bag --robot arm.xml --position /joint_states.position --command /effort.data`
    """

    file: Annotated[Path, tyro.conf.Positional]
    """The log: a file, or the folder of a bag, a data set or of CSV files."""
    robot: str
    """A task (isthmus list tasks), a robot file as in my_robot.py, an MJCF or URDF file, go2 or qube."""
    out: Path = OUT
    """Where to write the map."""
    position: tuple[str, ...] = ()
    """Series of joint positions, where their names do not say so."""
    velocity: tuple[str, ...] = ()
    """Series of joint velocities."""
    torque: tuple[str, ...] = ()
    """Series of measured torques."""
    command: tuple[str, ...] = ()
    """Series of commands."""
    commands: Literal["position", "effort", "voltage"] | None = None
    """What commands are, where neither their name nor the motion tells."""
    force: bool = False
    """Write over a map that is there."""
    seed: int = 0
    """Of the search."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Read, propose, write and print."""
        from isthmus.cli.robot_models import load_model
        from isthmus.core import Problem
        from isthmus.core.errors import check_range
        from isthmus.logs import read_log, write_map
        from isthmus.logs.assemble import propose
        from isthmus.logs.robot_body import body_of

        check_range("--seed", self.seed, 0, 2**32 - 1)
        if self.out.exists() and not self.force:
            raise Problem(f"{self.out} is there already: name another file with --out, or write over it with --force")
        given = {role: getattr(self, role) for role in ("position", "velocity", "torque", "command")}
        log, body = read_log(self.file), body_of(load_model(self.robot))
        with stdout.status("comparing the log's motion with the model"):
            found = propose(log, body, robot=self.robot, given=given, kind=self.commands, seed=self.seed)
        write_map(self.out, found.log_map, _comments(self.file, found), _remarks(found))
        if self.json:
            print_json(_as_json(found))
        else:
            _print(found, self.out)


def _remarks(found: "Proposal") -> dict[str, str]:
    return {one.joint: _doubts(one) for one in found.found if one.unsure}


def _doubts(one: "Found") -> str:
    parts = (f"{what} ({one.confidence.get(what, 0.5):.0%})" for what in one.unsure)
    return f"not sure: {', '.join(parts)}"


def _comments(file: Path, found: "Proposal") -> tuple[str, ...]:
    return (
        f"How {file.name} maps to the robot, as isthmus logs map proposes it. Correct it where it is wrong.",
        "A value of the robot is sign * unit * column + offset, in rad, rad/s and N m.",
        *found.notes,
    )


def _as_json(found: "Proposal") -> dict[str, Any]:
    return {"map": asdict(found.log_map), "joints": [asdict(one) for one in found.found], "notes": list(found.notes)}


def _print(found: "Proposal", out: Path) -> None:
    print_table(
        f"{len(found.found)} joint{'s' * (len(found.found) != 1)}",
        ("joint", "column", "sign ", "unit", "zero ", "by", "fit ", "not sure"),
        [_row(one, found.log_map) for one in found.found],
    )
    for note in found.notes:
        stdout.print(f"note: {note}", soft_wrap=True)
    if found.log_map.command_delay:
        stdout.print(f"commands act {found.log_map.command_delay * 1e3:.1f} ms after they are logged", soft_wrap=True)
    doubtful = sum(bool(one.unsure) for one in found.found)
    if doubtful:
        joints = "1 joint is" if doubtful == 1 else f"{doubtful} joints are"
        stdout.print(f"{joints} not sure in some part: check the map", soft_wrap=True)
    stdout.print(f"map: {out}", soft_wrap=True)


def _row(one: "Found", log_map: "LogMap") -> tuple[str, ...]:
    sources = next(joint for joint in log_map.joints if joint.name == one.joint)
    return (
        one.joint,
        _place(sources.position),
        f"{sources.position.sign:+d}",
        _unit(sources.position.scale),
        f"{sources.position.offset:.3f}",
        one.by,
        "" if one.explained is None else f"{one.explained:.0%}",
        ", ".join(one.unsure),
    )


def _place(source: "Source") -> str:
    return f"{source.series}[{source.column}]"


def _unit(scale: float) -> str:
    from isthmus.logs.map_file import UNITS

    return next((name for name, one in UNITS.items() if abs(one / scale - 1) < 1e-9), f"{scale:.4g}")
