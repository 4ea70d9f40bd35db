"""Which column of a log is what. Guessed once, with reasons, then kept in a TOML file that a person can correct."""

import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from isthmus.actuators.log import Command
from isthmus.actuators.reading.table import Table
from isthmus.core import Problem
from isthmus.io import read_regular, write_whole

ROLES = ("time", "target", "position", "velocity", "torque", "enabled")
NEEDED = ("target", "position")
KNOWN: dict[str, tuple[str, ...]] = {
    "time": ("time", "t", "timestamp", "stamp", "seconds", "time_s"),
    "target": (
        *("target", "des_dof_pos", "joint_pos_target", "goal_position", "control positions", "q_des", "q_target"),
        *("des_pos", "pos_des", "target_pos", "target_position", "desired_position", "position_command", "command"),
        *("setpoint", "dof_pos_target", "desired", "goal", "reference", "action_target", "voltage_command"),
    ),
    "position": (
        "position", "dof_pos", "joint_pos", "positions", "q", "pos", "present_position", "joint_position", "angle",
        "qpos", "theta", "measured_position", "actual_position",
    ),
    "velocity": (
        "velocity", "dof_vel", "joint_vel", "velocities", "qd", "dq", "vel", "speed", "qvel", "joint_velocity",
        "theta_dot", "present_velocity", "measured_velocity",
    ),
    "torque": ("torque", "torques", "tau", "effort", "joint_torque", "measured_torque", "tau_est", "dof_torque"),
    "enabled": ("torque_enable", "enabled", "torque_enabled"),
}  # fmt: skip
"""Names that a column of each role goes by, the likeliest first."""


@dataclass(frozen=True)
class Mapping:
    """Which columns a log's numbers are in, and their units. A role has one column of J numbers or J columns."""

    columns: dict[str, tuple[str, ...]]
    """By role, see `ROLES`."""
    joints: tuple[str, ...] = ()
    angle: str = "rad"
    """rad or deg, of targets, positions and velocities."""
    command: Command = "position"
    reasons: tuple[str, ...] = field(default=())
    """Why each column was taken, where nobody said so."""

    def __post_init__(self) -> None:
        """Refuse what cannot be a mapping."""
        unknown = sorted(set(self.columns) - set(ROLES))
        if unknown:
            raise Problem(f"unknown role {unknown[0]!r} in a mapping: choose from {', '.join(ROLES)}")
        for role in NEEDED:
            if not self.columns.get(role):
                raise Problem(f'no column is the {role}: name it in the mapping, as in {role} = ["my_column"]')
        if self.angle not in ("rad", "deg"):
            raise Problem(f"angles are in rad or deg, not in {self.angle[:20]!r}")
        if self.command not in ("position", "effort"):
            raise Problem(f"a command is a position or an effort, not {str(self.command)[:20]!r}")

    def save(self, path: Path) -> None:
        """Write the mapping as TOML."""
        lines = [
            "# Which column of the log is what. Correct it and run the command again.",
            *(f"# {reason}" for reason in self.reasons),
        ]
        lines += [f"{role} = [{', '.join(map(_quoted, names))}]" for role, names in self.columns.items()]
        lines += [
            f"joints = [{', '.join(map(_quoted, self.joints))}]",
            f"angle = {_quoted(self.angle)}",
            f"command = {_quoted(self.command)}",
        ]
        write_whole(path, ("\n".join(lines) + "\n").encode())

    @staticmethod
    def load(path: Path) -> "Mapping":
        """Read a mapping that `save` wrote or a person."""
        try:
            data = tomllib.loads(read_regular(path, limit=1_000_000, follow=True).decode())
        except OSError as error:
            raise Problem(f"cannot read the mapping {path}: {error.strerror}") from error
        except ValueError as error:
            raise Problem(f"{path} is not a mapping in TOML: {error}") from error
        unknown = sorted(set(data) - {*ROLES, "joints", "angle", "command"})
        if unknown:
            raise Problem(f"{path} has an entry {unknown[0][:40]!r} that no mapping has")
        return Mapping(
            {role: _names(data[role], role, path) for role in ROLES if data.get(role)},
            _names(data.get("joints", []), "joints", path),
            str(data.get("angle", "rad")),
            cast("Command", str(data.get("command", "position"))),
        )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _names(value: Any, role: str, path: Path) -> tuple[str, ...]:  # noqa: ANN401 - whatever TOML holds
    many = cast("list[object]", value) if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in many):
        raise Problem(f"{role} of {path} must be a list of names")
    return tuple(cast("list[str]", many))


def guess(table: Table, joints: tuple[str, ...] = ()) -> Mapping:
    """The mapping that the names of the columns suggest; a Problem where they suggest none."""
    found: dict[str, tuple[str, ...]] = {}
    reasons: list[str] = []
    labels: tuple[str, ...] = ()
    for role in ROLES:
        columns, own = _columns(table, role)
        if not columns:
            continue
        found[role] = columns
        labels = labels or own
        reasons.append(f"{role}: {_listed(columns)}, by its name")
    missing = [role for role in NEEDED if role not in found]
    if missing:
        raise Problem(
            f"{table.path} has no column that is clearly the {missing[0]}; it has {_listed(tuple(table.columns))}: "
            f'name it in a mapping (--mapping FILE.toml) with {missing[0]} = ["COLUMN"]'
        )
    command: Command = "position"
    if found["target"][0].startswith("voltage"):
        command = "effort"
        reasons.append("command: effort, since a voltage is commanded")
    angle = "rad"
    if any(re.search(r"(?:^|[\W_])deg(?:rees)?(?:$|[\W_])", name, re.IGNORECASE) for name in found["position"]):
        angle = "deg"
        reasons.append("angle: deg, by the name of the position column")
    return Mapping(found, joints or table.joints or labels, angle, command, tuple(reasons))


def _columns(table: Table, role: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The column of a role, or one for each joint, and the joints' names if the columns have them."""
    lower = {name.lower(): name for name in table.columns}
    for known in KNOWN[role]:
        if known in lower:
            return (lower[known],), ()
    others = {known for other in ROLES if other != role for known in KNOWN[other]}
    for known in KNOWN[role]:
        each = {
            name: match
            for name in table.columns
            if name.lower() not in others and (match := _joint_of(name, known)) is not None
        }
        if each and role != "time":
            return tuple(each), tuple(each.values())
    return (), ()


def _joint_of(column: str, known: str) -> str | None:
    """The joint in a name as `q_hip`, `hip_q`, `hip/q` or `q[3]`; None when the column is none of that role."""
    pattern = re.escape(known)
    match = re.fullmatch(rf"{pattern}(?:_deg|_rad)?[_./ \[]+([\w-]+)\]?", column, re.IGNORECASE) or re.fullmatch(
        rf"([\w-]+)[_./ ]+{pattern}(?:_deg|_rad)?", column, re.IGNORECASE
    )
    return match.group(1) if match else None


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def of_joints(mapping: Mapping, joints: tuple[str, ...]) -> Mapping:
    """The same mapping with the joints named by the user."""
    return replace(mapping, joints=joints) if joints else mapping
