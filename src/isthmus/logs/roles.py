"""Which series of a log are joint positions, velocities, torques and commands: by their names and sizes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Problem
from isthmus.logs.names import match_names
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
SIGNED = 0.01
"""Share of samples of a drive to each side of 0 at least."""
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
    "time",
    "stamp",
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


def find_roles(log: Log, joints: Sequence[str], given: Mapping[str, tuple[str, ...]]) -> Roles:
    """The roles of a log's series for a robot with `joints`; `given` names the series of roles that are known.

    Where no series has the name of positions, those that are called as joints are, or as what was measured. Where none
    has the name of a command, torques, currents or voltages with a sign are taken for what drove the robot.
    """
    names = {role: given.get(role) or _best(log, role, joints) for role in ROLES}
    names["position"] = names["position"] or _called_as_joints(log, joints) or _measured(log, len(joints))
    if not names["command"]:
        names["command"] = _driving(log, len(joints))
        if names["command"] == names["torque"]:
            names["torque"] = ()
    kind = _command_kind(names["command"][0]) if names["command"] else None
    found = {
        role: tuple(cell for name in some for cell in _cells(log[name], several=len(some) > 1))
        for role, some in names.items()
    }
    if not found["position"]:
        raise Problem(
            f"no series of {log.path.name} has a name of joint positions: say which one is with --position SERIES "
            f"({', '.join(list(log.series)[:10])})"
        )
    return Roles(found, kind)


def words_in(name: str) -> list[str]:
    """The words of a series' name in small letters."""
    return [word for word in re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()) if word]


def role_of(name: str, joints: Sequence[str] = ()) -> str:
    """The role that a series' name suggests, for a robot with `joints`; empty where it suggests none."""
    words = words_in(name)
    if _is_elsewhere(words, joints) and not any(word.startswith("joint") for word in words):
        return ""
    kind = kind_of(name)
    asked = any(word in COMMAND or word.startswith(("target", "command", "desired", "goal")) for word in words)
    if asked and not any(word in MEASURED for word in words):
        return "" if kind in ("velocity", "acceleration", "temperature", "orientation") else "command"
    return kind if kind in ("position", "velocity", "torque") else ""


def _is_elsewhere(words: Sequence[str], joints: Sequence[str]) -> bool:
    """Whether words say that something else than a joint was measured, and are not the name of one, as base_yaw."""
    text = f" {' '.join(words)} "
    return any(word.startswith(OTHER) for word in words) and not any(
        f" {' '.join(words_in(joint))} " in text for joint in joints if words_in(joint)
    )


def _best(log: Log, role: str, joints: Sequence[str]) -> tuple[str, ...]:
    """The series that fits a role best: one with a column a joint, or as many with one column each."""
    fitting = [one for name, one in log.series.items() if role_of(name, joints) == role and _tells(one)]
    return _fittest(fitting, role, len(joints))


def _called_as_joints(log: Log, joints: Sequence[str]) -> tuple[str, ...]:
    """Single columns whose names are those of joints, and say nothing else."""
    names = [
        name
        for name, one in log.series.items()
        if len(one.labels) == 1 and not _says_what(name, joints) and _tells(one)
    ]
    return tuple(names[column] for column in match_names(names, tuple(joints)) if column is not None)


def _says_what(name: str, joints: Sequence[str]) -> bool:
    """Whether a name says what was measured or asked."""
    words = words_in(name)
    return bool(kind_of(name)) or any(word in COMMAND for word in words) or _is_elsewhere(words, joints)


def _measured(log: Log, joints: int) -> tuple[str, ...]:
    """Series that are called measured, actual or the like, and not what of."""
    said = [one for name, one in log.series.items() if not kind_of(name) and {*words_in(name)} & {*MEASURED}]
    return _fittest([one for one in said if _tells(one)], "position", joints)


def _driving(log: Log, joints: int) -> tuple[str, ...]:
    """Series of torques, currents or voltages that can have driven the robot: they have a sign."""
    for kind in ("torque", "current", "voltage"):
        found = _fittest(
            [one for name, one in log.series.items() if kind_of(name) == kind and _tells(one)], kind, joints
        )
        if any(_has_sign(log[name]) for name in found):
            return found
    return ()


def _has_sign(series: Series) -> bool:
    values = series.values[np.isfinite(series.values)]
    return bool(min(np.mean(values < 0), np.mean(values > 0)) > SIGNED)


def _fittest(fitting: list[Series], role: str, joints: int) -> tuple[str, ...]:
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
