"""A map out of what was found about a log: sources of all joints and actuators, and what a person has to check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.logs.apply import column_of, nominal_rate
from isthmus.logs.clocks import EPISODES
from isthmus.logs.drive import UNITS
from isthmus.logs.log_map import ActuatorSource, JointSources, LogMap, Source
from isthmus.logs.pairing import pair_columns
from isthmus.logs.propose import LITTLE, Known, Matched, know, match_joints
from isthmus.logs.reading_search import CERTAIN
from isthmus.logs.robot_body import RobotBody
from isthmus.logs.robot_log import CommandKind
from isthmus.logs.roles import Cell, role_of
from isthmus.logs.series import Log

RATES = (*UNITS, 2 * np.pi / 60, 0.229 * 2 * np.pi / 60)
"""rad/s in one unit of a velocity; the last two are rpm, and the unit of some servos."""
NEAR = 0.15
"""Share by which an estimated scale may be off one that is known, to be that."""
FACTOR = 1.8
"""Times by which the estimated scale of efforts may be off one that is known, to be that: masses of models are off."""


@dataclass(frozen=True)
class Found:
    """What is known about one joint, and how."""

    joint: str
    label: str
    """Of the column that it was found in."""
    by: str
    """name, motion or order."""
    confidence: Mapping[str, float]
    """0 to 1 for order, sign, offset and unit, as far as they were compared with others."""
    unsure: tuple[str, ...]
    """What of it a person has to check."""
    explained: float | None
    """Share of what drove the joint that the model's torque explains; None where that was not looked at."""


@dataclass(frozen=True)
class Proposal:
    """A map, and what to know about it."""

    log_map: LogMap
    found: tuple[Found, ...]
    notes: tuple[str, ...]

    @property
    def doubts(self) -> int:
        """How many parts of it a person has to check."""
        return sum(len(one.unsure) for one in self.found)


def propose(
    log: Log,
    body: RobotBody,
    *,
    robot: str = "",
    given: Mapping[str, tuple[str, ...]] | None = None,
    kind: CommandKind | None = None,
    seed: int = 0,
) -> Proposal:
    """The map of a log to a robot's joints that fits best, by names first, then by motion.

    `given` names the series of roles (position, velocity, torque, command) that are known, and `kind` says what
    commands are.
    """
    known = know(log, body, given or {}, kind)
    matched = match_joints(known, seed)
    joints = _joints(known, matched)
    actuators = _actuators(log, known, matched, joints)
    rate = nominal_rate([column_of(log, one.position) for one in joints])
    log_map = LogMap(
        joints=joints,
        actuators=actuators,
        command_kind=known.kind,
        command_delay=round(matched.delay, 6),
        rate=rate,
        enabled=_switch(log),
        episode=_episode(log),
        robot=robot,
    )
    return Proposal(log_map, _found(known, matched), tuple(_notes(log, known, matched)))


def _source(cell: Cell, sign: float, scale: float, offset: float = 0.0) -> Source:
    return Source(cell.series, cell.column, 1 if sign > 0 else -1, float(scale), round(float(offset), 6) + 0.0)


def _joints(known: Known, matched: Matched) -> tuple[JointSources, ...]:
    reading, cells = matched.reading, known.roles.columns
    velocities, torques = known.raw.velocity_pairs(), _torques(known, matched)
    found: list[JointSources] = []
    for joint, name in enumerate(known.body.joints):
        column, sign = int(reading.columns[joint]), float(reading.signs[joint])
        position = _source(
            cells["position"][column],
            sign,
            known.units.scales[column] * reading.scales[column],
            reading.offsets[joint],
        )
        other = int(velocities.others[column])
        velocity = None
        if other >= 0:
            scale = float(reading.scales[column]) * _known_scale(1 / float(velocities.ratio[column]), RATES, 1 + NEAR)
            velocity = _source(cells["velocity"][other], sign * float(velocities.correlation[column]), scale)
        found.append(JointSources(name, position, velocity, torques.get(joint)))
    return tuple(found)


def _torques(known: Known, matched: Matched) -> dict[int, Source]:
    if not known.torques or matched.explained is None:
        return {}
    explained, cells = matched.explained, known.roles.columns["torque"]
    found: dict[int, Source] = {}
    drives: list[int] = explained.drives.tolist()
    for joint, column in enumerate(drives):
        gain = float(explained.gains[joint])
        if column >= 0:
            scale = _known_scale(1 / abs(gain), (1.0, 1e-3), FACTOR) if gain else 1.0
            found[joint] = _source(cells[column], gain or 1.0, scale)
    return found


def _known_scale(estimate: float, scales: Sequence[float], factor: float) -> float:
    """The nearest scale that is known, if the estimate is within a factor of it; otherwise the estimate."""
    nearest = min(scales, key=lambda scale: abs(np.log(estimate / scale)))
    return nearest if abs(np.log(estimate / nearest)) < np.log(factor) else estimate


def _actuators(
    log: Log, known: Known, matched: Matched, joints: tuple[JointSources, ...]
) -> tuple[ActuatorSource, ...]:
    cells = known.roles.columns["command"]
    if not cells:
        return ()
    sources = _positions_asked(known, matched, joints) if known.servo is not None else _efforts_asked(known, matched)
    found: list[ActuatorSource] = []
    for place, name in enumerate(known.body.actuators):
        joint = int(known.body.moved[place])
        if joint in sources:
            gains = (_gain(log, known, which, int(matched.reading.columns[joint])) for which in ("kp", "kd"))
            found.append(ActuatorSource(name, known.body.joints[joint], sources[joint], *gains))
    return tuple(found)


def _positions_asked(known: Known, matched: Matched, joints: tuple[JointSources, ...]) -> dict[int, Source]:
    servo, reading, cells = known.servo, matched.reading, known.roles.columns["command"]
    found: dict[int, Source] = {}
    taken = set[int]() if servo is None else set(servo.pairs.others.tolist())
    for joint, column in enumerate(reading.columns.tolist()):
        other = -1 if servo is None else int(servo.pairs.others[column])
        if other < 0 and len(cells) == len(known.units.scales) and column not in taken:
            # It was not followed in this log, as by a drive that is off: it is taken to be as its position is.
            source = next(one for one in joints if one.name == known.body.joints[joint]).position
            found[joint] = replace(source, series=cells[column].series, column=cells[column].column)
        elif servo is not None and other >= 0:
            sign = float(reading.signs[joint])
            wider = float(reading.scales[column])
            offset = sign * float(servo.offsets[column]) * wider + float(reading.offsets[joint])
            turned = sign * float(servo.signs[column])
            found[joint] = _source(cells[other], turned, float(servo.scales[column]) * wider, offset)
    return found


def _efforts_asked(known: Known, matched: Matched) -> dict[int, Source]:
    cells, gear = known.roles.columns["command"], known.body.gear
    explained = matched.explained
    if explained is None:
        own = {int(joint): place for place, joint in enumerate(known.body.moved) if place < len(cells)}
        return {joint: _source(cells[place], 1.0, 1.0) for joint, place in own.items()}
    columns, turned = explained.drives, np.where(explained.gains < 0, -1.0, 1.0)
    if known.torques:
        pairs = pair_columns(known.raw.torque, known.raw.command)
        turned = turned * np.where(pairs.correlation[columns] < 0, -1.0, 1.0)
        columns = np.where(columns >= 0, pairs.others[columns], -1)
    found: dict[int, Source] = {}
    for place, joint in enumerate(known.body.moved.tolist()):
        column, gain = int(columns[joint]), float(explained.gains[joint])
        if column >= 0:
            known_ones = (1.0, 1 / abs(gear[place]), 1e-3, 1e-3 / abs(gear[place]))
            free = known.kind == "voltage" or known.torques or not gain
            scale = 1.0 if free else _known_scale(1 / abs(gain * gear[place]), known_ones, FACTOR)
            found[joint] = _source(cells[column], float(turned[joint]), scale)
    return found


def _gain(log: Log, known: Known, which: str, column: int) -> float | None:
    """What the log says about a drive's gain, in the order of its positions."""
    meta = log.meta or {}
    values = [meta.get(f"{which}.{number}") for number in range(len(known.roles.columns["position"]) + 1)]
    given = values[:-1]
    whole = values[-1] is None and all(isinstance(one, float) for one in given)
    value = given[column] if whole else None
    return value if isinstance(value, float) and np.isfinite(value) else None


def _switch(log: Log) -> Source | None:
    """The column that says whether drives are on."""
    for name, series in log.series.items():
        on = series.values[np.isfinite(series.values)]
        if "enable" in name.lower() and len(series.labels) == 1 and np.isin(on, (0.0, 1.0)).all():
            return Source(name, 0)
    return None


def _episode(log: Log) -> Source | None:
    found = next((name for name in EPISODES if name in log.series), None)
    return None if found is None else Source(found, 0)


def _found(known: Known, matched: Matched) -> tuple[Found, ...]:
    found: list[Found] = []
    for joint, name in enumerate(known.body.joints):
        column, margins = int(matched.reading.columns[joint]), dict(matched.margins[joint])
        if known.units.open[column]:
            margins.setdefault("unit", 0.0)
        named = known.named[joint] is not None
        for what, hangs in (("order", "sign"), ("sign", "offset")):  # what depends on it is no surer
            if what in margins and hangs in margins:
                margins[hangs] = min(margins[hangs], margins[what])
        unsure = tuple(what for what, margin in margins.items() if margin < CERTAIN)
        by = "name" if named else "order" if "order" in unsure else "motion"
        confidence = {what: float(1 / (1 + np.exp(-np.clip(margin, -30, 30)))) for what, margin in margins.items()}
        left = None if matched.explained is None else float(np.clip(1 - matched.explained.left[joint], 0, 1))
        found.append(Found(name, known.roles.columns["position"][column].label, by, confidence, unsure, left))
    return tuple(found)


def _notes(log: Log, known: Known, matched: Matched) -> list[str]:
    notes = [*log.notes, f"positions are in {known.units.reason}"]
    cells = known.roles.columns
    if not cells["command"]:
        notes.append("no series has the name of a command: say which one is with --command SERIES")
    else:
        name = cells["command"][0].series
        drives = "" if role_of(name) == "command" else "; nothing in the log has the name of a command"
        notes.append(f"{name} has commands, taken for {known.kind}s{drives}")
    if not cells["velocity"]:
        notes.append("no series has the name of velocities: they will be estimated from positions")
    if cells["torque"] and not known.torques:
        notes.append(f"{cells['torque'][0].series} is not used: it has no sign, or too few columns for all joints")
    if matched.explained is None:
        notes.append("nothing in the log drives the robot, so that its motion could not be compared with the model")
    elif float(np.median(matched.explained.left)) > LITTLE:
        notes.append(
            "the model with its base held explains little of what drove the joints: signs and offsets are not known "
            "from a robot that walks or touches something, or that is another one than the model"
        )
    if matched.explained is not None and known.servo is not None and not matched.delay and not known.torques:
        notes.append("a delay of commands could not be told from the drives' own lag: it is taken to be 0")
    return notes
