"""Propose how a log maps to a robot: by names first, then by the motion itself."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Problem
from isthmus.logs.angle_units import DEGREE, AngleUnits, angle_units
from isthmus.logs.doubt import branches, judge
from isthmus.logs.drive import Servo, command_kind, later, measured_efforts, servo_errors, servo_of
from isthmus.logs.names import match_names
from isthmus.logs.raw_motion import RawMotion, raw_motion
from isthmus.logs.reading_search import MANY, Free, climb, refined, search
from isthmus.logs.robot_body import Index, RobotBody
from isthmus.logs.robot_log import CommandKind
from isthmus.logs.roles import Roles, find_roles
from isthmus.logs.series import Log
from isthmus.logs.torque_match import Explained, Motion, Reading, TorqueMatch

MOMENTS = 2000
"""Rows that a search draws from at most."""
FEWEST = 30
"""Rows without which motion tells nothing."""
LONGEST_DELAY = 0.1
"""Seconds by which commands may act later than they are logged, or earlier."""
LUCK = 3.0
"""Nats that a reading is sure at most that only one search found."""
GAIN = 3.0
"""Nats by which a delay has to explain commands better than none."""


@dataclass(frozen=True)
class Known:
    """What a log says before its motion is compared with a model."""

    body: RobotBody
    roles: Roles
    units: AngleUnits
    raw: RawMotion
    named: tuple[int | None, ...]
    """(n,) the column of each joint whose name says so."""
    usual: Index
    """(n,) the column in which each joint would be expected."""
    kind: CommandKind
    servo: Servo | None
    """How commands relate to positions, if they are positions."""
    efforts: Float | None
    """(T, L) torques that were measured or commanded, if there are any to be used."""
    torques: bool
    """Whether the efforts are measured torques, not commands."""


@dataclass(frozen=True)
class Matched:
    """How columns are read as joints, and how well that explains what drove them."""

    reading: Reading
    margins: tuple[Mapping[str, float], ...]
    """(n,) nats by which other readings of each joint are worse, by what is other; empty where that is not known."""
    explained: Explained | None
    """None where motion could not be compared with the model."""
    delay: float
    """Seconds by which commands act later than they are logged."""


def know(log: Log, body: RobotBody, given: Mapping[str, tuple[str, ...]], said: CommandKind | None = None) -> Known:
    """Find the columns of a log that may be joints, their units, and which belong together."""
    roles = find_roles(log, len(body.joints), given)
    cells = roles.columns["position"]
    labels = [cell.label for cell in cells]
    body, named = _with_columns(log, body, labels)
    units = angle_units(log, cells, body)
    raw = raw_motion(log, roles.columns, units.scales, None)
    kind = command_kind(raw, body, said or roles.command_kind)
    servo = servo_of(raw) if raw.command.size and kind == "position" else None
    torque = measured_efforts(raw)
    efforts = torque if torque is not None else raw.command if raw.command.size and servo is None else None
    return Known(
        body, roles, units, raw, named, _usual(body, len(cells), named), kind, servo, efforts, torque is not None
    )


def _with_columns(log: Log, body: RobotBody, labels: list[str]) -> tuple[RobotBody, tuple[int | None, ...]]:
    """The joints that can have columns: all, those with an actuator, or those that columns are named after."""
    named = match_names(labels, body.joints)
    if len(labels) >= len(body.joints):
        return body, tuple(named)
    driven = np.flatnonzero(~body.passive)
    if len(labels) >= len(driven):
        return body.only(driven), tuple(named[joint] for joint in driven.tolist())
    known = [joint for joint, column in enumerate(named) if column is not None]
    if not known:
        raise Problem(
            f"{log.path.name} has {len(labels)} columns of positions and the robot has {len(driven)} joints that move: "
            f"name the columns after the joints they are of ({', '.join(body.joints[:8])})"
        )
    return body.only(np.array(known, np.intp)), tuple(named[joint] for joint in known)


def _usual(body: RobotBody, columns: int, named: tuple[int | None, ...]) -> Index:
    """Joints are expected in the order of the model, among its other coordinates if there are as many columns."""
    model = body.model
    if columns == model.nq != len(body.joints):
        order = np.asarray(model.jnt_qposadr[body.ids], np.intp)
    elif columns == model.nv != len(body.joints):
        order = np.asarray(model.jnt_dofadr[body.ids], np.intp)
    else:
        order = np.arange(len(body.joints))
    known = np.array([-1 if column is None else column for column in named], np.intp)
    left = [column for column in range(columns) if column not in set(known.tolist())]
    free = [column for column in order.tolist() if column in left]
    free += [column for column in left if column not in free]
    rest = iter(free)
    return np.array([next(rest) if column < 0 else column for column in known.tolist()], np.intp)


def match_joints(known: Known, seed: int) -> Matched:
    """Read the columns as joints: as names say, and otherwise as the model's dynamics explain the commands best."""
    count, columns = len(known.body.joints), len(known.units.scales)
    start = Reading(known.usual, np.ones(count), np.zeros(count), np.ones(columns))
    rows = np.flatnonzero(known.raw.sound)
    if len(rows) < FEWEST or (known.servo is None and known.efforts is None):
        nothing = {"sign": 0.0, "offset": 0.0}
        unknown = tuple(nothing if one is not None else nothing | {"order": 0.0} for one in known.named)
        return Matched(start, unknown, None, 0.0)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(rows, min(MOMENTS, len(rows)), replace=False))
    free = Free(
        np.array([joint for joint, column in enumerate(known.named) if column is None], np.intp),
        units=np.flatnonzero(known.units.open),
        factor=1 / DEGREE,
    )
    match = _match(known, rows, 0.0)
    ends = search(match, start, free, branches(known.body), rng)
    readings = list(ends.readings)
    many = np.sort(rng.choice(len(rows), min(MANY, len(rows)), replace=False))
    delay = _delay(known, match, readings[0], rows)
    if delay:
        match = _match(known, rows, delay)
        moved = (refined(match.on(many), climb(match.on(many), one, free)[0], free) for one in readings)
        readings = [reading for reading, _ in sorted(moved, key=lambda end: -end[1])]
    judged = judge(match.on(many), readings, free)
    margins = tuple(  # what only one search found may be what it happened to find
        {what: margin if joint in ends.again else min(margin, LUCK) for what, margin in one.items()}
        for joint, one in enumerate(judged.margins)
    )
    return Matched(judged.reading, margins, match.explained(judged.reading), delay)


def _match(known: Known, rows: Index, delay: float) -> TorqueMatch:
    raw, plain = known.raw, np.ones(len(known.units.scales))
    motion = Motion(
        raw.position[rows],
        raw.velocity[rows],
        raw.acceleration[rows],
        _drive(known, delay)[rows],
        known.efforts is None,
        plain if known.servo is None else known.servo.signs,
        0 * plain if known.servo is None else known.servo.offsets,
    )
    return TorqueMatch(known.body, motion, known.usual)


def _drive(known: Known, delay: float) -> Float:
    if known.efforts is not None:
        return known.efforts if known.torques else later(known.raw, known.efforts, delay)
    return np.zeros_like(known.raw.position) if known.servo is None else servo_errors(known.raw, known.servo, delay)


def _delay(known: Known, match: TorqueMatch, reading: Reading, rows: Index) -> float:
    """Seconds by which commands act later than they are logged, to a fraction of a row."""
    dt = known.raw.log.dt
    if known.torques:
        return 0.0
    positions, features = match.features([reading])
    steps = np.arange(-2, int(LONGEST_DELAY / dt) + 1, dtype=np.float64)
    tried = [match.with_drive([reading], positions, features, _drive(known, step * dt)[rows])[0] for step in steps]
    scores = np.array([one.score for one in tried])
    best = int(scores.argmax())
    if scores[best] < scores[2] + GAIN or not 0 < best < len(steps) - 1:
        return 0.0  # at an end, it is something else than a delay
    before, here, after = scores[best - 1 : best + 2]
    bend = before - 2 * here + after
    return float((steps[best] + (0.5 * (before - after) / bend if bend < 0 else 0.0)) * dt)
