"""Which series of a log are joint positions, velocities, torques and commands: by their names and sizes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.core import Problem
from isthmus.logs.robot_log import CommandKind
from isthmus.logs.series import Log, Series
from isthmus.logs.units import kind_of

ROLES = ("position", "velocity", "torque", "command")
COMMAND = (
    *(
        "command",
        "cmd",
        "target",
        "goal",
        "desired",
        "des",
        "setpoint",
        "reference",
        "ref",
        "action",
        "ctrl",
        "control",
    ),
    *("u", "wish", "want", "input"),
)
"""Words in a name that stand for what was asked of a robot."""
MEASURED = ("applied", "measured", "actual", "present", "state", "observation", "real", "meas", "obs")
"""Words that stand for what was measured, where a name has words of both kinds."""
PLAIN = {
    "position": ("joint_pos", "dof_pos", "q", "qpos", "position", "positions", "joint_position", "joint_positions"),
    "velocity": ("joint_vel", "dof_vel", "qd", "dq", "qvel", "velocity", "velocities", "joint_velocity", "speed"),
    "torque": ("torque", "torques", "tau", "effort", "joint_torque"),
}
"""Names that can mean nothing else."""
OTHER = (
    "imu",
    "base",
    "body",
    "foot",
    "feet",
    "contact",
    "rpy",
    "odom",
    "gyro",
    "camera",
    "ee",
    "temp",
    "index",
    "enable",
)
"""Words of what is measured elsewhere than in a joint."""


@dataclass(frozen=True)
class Cell:
    """One column of a log: a component of a series."""

    series: str
    column: int
    label: str
    """What may name its joint."""


@dataclass(frozen=True)
class Roles:
    """The columns of a log by what they are."""

    columns: Mapping[str, tuple[Cell, ...]]
    """By role, see `ROLES`."""
    command_kind: CommandKind | None
    """As far as names say."""


def find_roles(log: Log, joints: int, given: Mapping[str, tuple[str, ...]]) -> Roles:
    """The roles of a log's series for a robot with some `joints`; `given` names the series of roles that are known."""
    found: dict[str, tuple[Cell, ...]] = {}
    kind: CommandKind | None = None
    for role in ROLES:
        names = given.get(role, ())
        if not names:
            names = _best(log, role, joints)
        found[role] = tuple(cell for name in names for cell in _cells(log[name], several=len(names) > 1))
        if role == "command" and names:
            kind = _command_kind(names[0])
    if not found["position"]:
        raise Problem(
            f"no series of {log.path.name} has a name of joint positions: say which one is with --position SERIES "
            f"({', '.join(list(log.series)[:10])})"
        )
    return Roles(found, kind)


def words_in(name: str) -> list[str]:
    """The words of a series' name in small letters."""
    return [word for word in re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()) if word]


def role_of(name: str) -> str:
    """The role that a series' name suggests; empty where it suggests none."""
    words = words_in(name)
    if any(word.startswith(OTHER) for word in words) and not any(word.startswith("joint") for word in words):
        return ""
    kind = kind_of(name)
    asked = any(word in COMMAND or word.startswith(("target", "command", "desired", "goal")) for word in words)
    if asked and not any(word in MEASURED for word in words):
        return "" if kind in ("velocity", "acceleration", "temperature", "orientation") else "command"
    return kind if kind in ("position", "velocity", "torque") else ""


def _best(log: Log, role: str, joints: int) -> tuple[str, ...]:
    """The series that fits a role best: one with a column a joint, or as many with one column each."""
    fitting = [one for name, one in log.series.items() if role_of(name) == role and _tells(one)]
    wide = [one for one in fitting if len(one.labels) > 1 or joints == 1]
    whole = [one for one in wide if len(one.labels) >= joints]
    if whole:
        return (max(whole, key=lambda one: _fit(one, role, joints)).name,)
    single = [one for one in fitting if len(one.labels) == 1]
    if wide and (not single or len(max(wide, key=lambda one: len(one.labels)).labels) >= len(single)):
        return (max(wide, key=lambda one: (len(one.labels), _fit(one, role, joints))).name,)
    return tuple(one.name for one in single)


def _tells(series: Series) -> bool:
    values = series.values[np.isfinite(series.values).all(axis=1)]
    return len(values) > 1 and bool(np.any(values != values[:1]))


def _fit(series: Series, role: str, joints: int) -> tuple[float, ...]:
    words = words_in(series.name)
    plain = any("_".join(words[-size:]) in PLAIN.get(role, ()) for size in (1, 2) if len(words) >= size)
    said = bool(kind_of(series.name)) and not {"action", "u", "input"} & set(words)
    return (float(len(series.labels) == joints), float(plain), float(said), -float(len(words)))


def _cells(series: Series, *, several: bool) -> Iterator[Cell]:
    """The columns of a series. One that has a single column and many like it is named by its own name."""
    for column, label in enumerate(series.labels):
        yield Cell(series.name, column, series.name if several and len(series.labels) == 1 else label)


def _command_kind(name: str) -> CommandKind | None:
    kind = kind_of(name)
    words = words_in(name)
    if kind == "voltage":
        return "voltage"
    if kind in ("torque", "current"):
        return "effort"
    return (
        "position" if any(word.startswith(("pos", "angle", "goal", "theta")) or word == "q" for word in words) else None
    )
