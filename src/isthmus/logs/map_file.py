"""Read and write maps of logs: TOML that a person reads and corrects."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.core import Problem, unknown_name
from isthmus.io import from_json, read_regular, write_whole
from isthmus.logs.log_map import MOST, ActuatorSource, JointSources, LogMap, ObservationSource, Source
from isthmus.logs.robot_log import COMMAND_KINDS
from isthmus.logs.velocity_filter import CUTOFF

LARGEST = 128 << 10
"""Bytes of a map."""
LONGEST_LINE = 600
"""Characters: the time that a key with many dots takes to read grows with the square of their number."""
VERSION = 1
UNITS: dict[str, float] = {
    "rad": 1.0,
    "deg": float(np.pi / 180),
    "turn": float(2 * np.pi),
    "mrad": 1e-3,
    "tick of 4096": float(2 * np.pi / 4096),
    "mm": 1e-3,
    "cm": 1e-2,
    "m": 1.0,
    "N m": 1.0,
    "mN m": 1e-3,
    "V": 1.0,
    "mV": 1e-3,
    "A": 1.0,
    "mA": 1e-3,
}
"""What one of each is in rad, m, N m, V or A. A column in deg/s has the unit deg."""


@dataclass(frozen=True)
class _Column:
    series: str
    column: int = 0
    sign: int = 1
    unit: str | None = None
    scale: float | None = None
    offset: float = 0.0


@dataclass(frozen=True)
class _Joint:
    name: str
    position: _Column
    velocity: _Column | None = None
    torque: _Column | None = None


@dataclass(frozen=True)
class _Actuator:
    name: str
    command: _Column
    joint: str | None = None
    kp: float | None = None
    kd: float | None = None


@dataclass(frozen=True)
class _Observation:
    name: str
    source: _Column


@dataclass(frozen=True)
class _File:
    """The fields of the file, with the names they have there."""

    joint: tuple[_Joint, ...]
    version: int = VERSION
    robot: str = ""
    commands: str = "position"
    command_delay: float = 0.0
    rate: float | None = None
    velocity_cutoff: float = CUTOFF
    enabled: _Column | None = None
    episode: _Column | None = None
    actuator: tuple[_Actuator, ...] = ()
    observation: tuple[_Observation, ...] = ()


def read_map(path: Path) -> LogMap:
    """The map in a TOML file. What does not fit is a Problem that names the entry."""
    try:
        text = read_regular(path, limit=LARGEST, follow=True).decode("utf-8")
        if any(len(line) > LONGEST_LINE for line in text.splitlines()):
            raise Problem(f"{path} is not a map of a log: a line of it has more than {LONGEST_LINE} characters")
        data = tomllib.loads(text)
    except FileNotFoundError as error:
        raise Problem(f"there is no map of a log at {path}: isthmus logs map makes one") from error
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is not a map of a log in TOML: {str(error)[:200]}") from error
    file = from_json(_File, data, path, "a map of a log")
    if file.version != VERSION:
        raise Problem(f"{path} is a map of version {str(file.version)[:20]}, this program reads version {VERSION}")
    try:
        return _map(file)
    except (Problem, OverflowError) as error:
        raise Problem(f"{path} is not a map of a log ({error})") from error


def _map(file: _File) -> LogMap:
    if file.commands not in COMMAND_KINDS:
        raise unknown_name("kind of commands", file.commands, COMMAND_KINDS)
    if max(len(file.joint), len(file.actuator), len(file.observation)) > MOST:
        raise Problem(f"a map has at most {MOST} joints, actuators and observations")
    names = {one.name for one in file.joint}
    return LogMap(
        joints=tuple(
            JointSources(one.name, _source(one.position), _maybe(one.velocity), _maybe(one.torque))
            for one in file.joint
        ),
        actuators=tuple(
            ActuatorSource(one.name, _joint_of(one, names), _source(one.command), _number(one.kp), _number(one.kd))
            for one in file.actuator
        ),
        observations=tuple(ObservationSource(one.name, _source(one.source)) for one in file.observation),
        command_kind=file.commands,
        command_delay=float(file.command_delay),
        rate=_number(file.rate),
        velocity_cutoff=float(file.velocity_cutoff),
        enabled=_maybe(file.enabled),
        episode=_maybe(file.episode),
        robot=file.robot,
    )


def _joint_of(actuator: _Actuator, names: set[str]) -> str:
    joint = actuator.joint or actuator.name
    if joint not in names:
        raise unknown_name(f"joint of the actuator {actuator.name[:40]!r}:", joint, names)
    return joint


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _maybe(column: _Column | None) -> Source | None:
    return None if column is None else _source(column)


def _source(column: _Column) -> Source:
    if column.unit is not None and column.scale is not None:
        raise Problem(f"a column of {column.series[:40]!r} has a unit and a scale: give one of them")
    if column.unit is not None and column.unit not in UNITS:
        raise unknown_name("unit", column.unit, UNITS)
    scale = column.scale if column.unit is None else UNITS[column.unit]
    return Source(
        column.series, column.column, column.sign, 1.0 if scale is None else float(scale), float(column.offset)
    )


def write_map(
    path: Path, log_map: LogMap, comments: tuple[str, ...] = (), remarks: Mapping[str, str] | None = None
) -> None:
    """Write a map, with `comments` at its top and `remarks` beside the joints and actuators of those names."""
    remarks = remarks or {}
    lines = [*(f"# {_one_line(comment)}" for comment in comments), f"version = {VERSION}"]
    lines += [f"robot = {_quoted(log_map.robot)}"] if log_map.robot else []
    lines += [
        f"commands = {_quoted(log_map.command_kind)}",
        f"command_delay = {log_map.command_delay!r}  # s by which commands act later than they are logged",
        *([f"rate = {log_map.rate!r}  # Hz to resample to"] if log_map.rate is not None else []),
        f"velocity_cutoff = {log_map.velocity_cutoff!r}  # Hz, where velocities are estimated",
    ]
    lines += [f"enabled = {_inline(log_map.enabled, '')}"] if log_map.enabled else []
    lines += [f"episode = {_inline(log_map.episode, '')}"] if log_map.episode else []
    for joint in log_map.joints:
        lines += ["", "[[joint]]" + _remark(remarks.get(joint.name)), f"name = {_quoted(joint.name)}"]
        for role, unit in (("position", "rad"), ("velocity", "rad"), ("torque", "N m")):
            source: Source | None = getattr(joint, role)
            lines += [f"{role} = {_inline(source, unit)}"] if source else []
    unit = {"position": "rad", "effort": "", "voltage": "V"}[log_map.command_kind]
    for one in log_map.actuators:
        lines += ["", "[[actuator]]" + _remark(remarks.get(f"{one.name} command")), f"name = {_quoted(one.name)}"]
        lines += [f"joint = {_quoted(one.joint)}", f"command = {_inline(one.command, unit)}"]
        lines += [f"{name} = {value!r}" for name, value in (("kp", one.kp), ("kd", one.kd)) if value is not None]
    for seen in log_map.observations:
        lines += ["", "[[observation]]" + _remark(remarks.get(seen.name)), f"name = {_quoted(seen.name)}"]
        lines += [f"source = {_inline(seen.source, '')}"]
    write_whole(path, ("\n".join(lines) + "\n").encode())


def _inline(source: Source, unit: str) -> str:
    """A source as an inline table. Its scale is written as a unit where it is that of one of the same kind."""
    kinds = {"rad": ("rad", "deg", "turn", "mrad", "tick of 4096"), "N m": ("N m", "mN m"), "V": ("V", "mV")}
    near = (name for name in kinds.get(unit, ()) if abs(UNITS[name] / source.scale - 1) < 1e-9)
    name = next(near, None)
    parts = [f"series = {_quoted(source.series)}", f"column = {source.column}", f"sign = {source.sign}"]
    parts.append(f"scale = {source.scale!r}" if name is None else f"unit = {_quoted(name)}")
    parts.append(f"offset = {source.offset!r}")
    return "{ " + ", ".join(parts) + " }"


def _remark(text: str | None) -> str:
    return f"  # {_one_line(text)}" if text else ""


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(one if one.isprintable() else f"\\U{ord(one):08X}" for one in plain) + '"'
