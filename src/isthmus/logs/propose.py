"""Propose how a log maps to a robot: by names first, then by the motion itself."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float, Problem
from isthmus.logs.angle_units import DEGREE, AngleUnits, angle_units
from isthmus.logs.doubt import LIKELY, Judged, branches, judge, margins_at
from isthmus.logs.drive import Servo, command_kind, later, measured_efforts, servo_errors, servo_of
from isthmus.logs.names import match_names
from isthmus.logs.raw_motion import RawMotion, raw_motion
from isthmus.logs.reading_search import MANY, Ends, Free, climb, refined, search
from isthmus.logs.robot_body import Index, RobotBody
from isthmus.logs.robot_log import CommandKind
from isthmus.logs.roles import Roles, find_roles
from isthmus.logs.series import Log
from isthmus.logs.settle import settled
from isthmus.logs.torque_match import Explained, Motion, Reading, TorqueMatch

MOMENTS = 2000
"""Rows that a search draws from at most."""
FEWEST = 30
"""Rows without which motion tells nothing."""
LONGEST_DELAY = 0.1
"""Seconds by which commands may act later than they are logged, or earlier."""
LUCK = 3.0
"""Nats that a reading is sure at most that only one search found."""
MORE = 200
"""Rows that zeros are settled by."""
LITTLE = 0.5
"""Share of what drives the joints that is left unexplained from which on a motion tells nothing, in the median."""
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
    usual_drives: Index
    """(m,) the column of efforts in which that of each actuator would be expected."""


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
    roles = find_roles(log, body.joints, given)
    cells = roles.columns["position"]
    labels = [cell.label for cell in cells]
    body, named = _with_columns(log, body, labels)
    units = angle_units(log, cells, body)
    raw = raw_motion(log, roles.columns, units.scales, None)
    kind = command_kind(raw, body, said or roles.command_kind)
    servo = servo_of(raw) if raw.command.size and kind == "position" else None
    torque = measured_efforts(raw)
    efforts = torque if torque is not None else raw.command if raw.command.size and servo is None else None
    usual, drives = _usual(body, len(cells), named), roles.columns["torque" if torque is not None else "command"]
    return Known(
        *(body, roles, units, raw, named, usual, kind, servo, efforts, torque is not None),
        usual_drives=_usual_drives(body, [cell.label for cell in drives]),
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
            f"{log.path.name} has {len(labels)} column{'s' * (len(labels) != 1)} of positions and the robot has "
            f"{len(driven)} joint{'s' * (len(driven) != 1)} that can move: "
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


def _usual_drives(body: RobotBody, labels: list[str]) -> Index:
    """The columns of efforts that are named after actuators or their joints; those of the others in their order."""
    joints = tuple(body.joints[int(joint)] for joint in body.moved)
    found = max(
        (match_names(labels, names) for names in (body.actuators, joints)),
        key=lambda columns: sum(column is not None for column in columns),
    )
    left = [column for column in range(max(len(labels), len(found))) if column not in found]
    return np.array([left.pop(0) if column is None else column for column in found], np.intp)


def match_joints(known: Known, seed: int) -> Matched:
    """Read the columns as joints: as names say, and otherwise as the model's dynamics explain the commands best."""
    count, columns = len(known.body.joints), len(known.units.scales)
    start = Reading(known.usual, np.ones(count), np.zeros(count), np.ones(columns))
    rows = np.flatnonzero(known.raw.sound)
    if len(rows) < FEWEST or (known.servo is None and known.efforts is None):
        return Matched(start, _nothing(known), None, 0.0)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(rows, min(MOMENTS, len(rows)), replace=False))
    free = Free(
        np.array([joint for joint, column in enumerate(known.named) if column is None], np.intp),
        units=np.flatnonzero(known.units.open),
        factor=1 / DEGREE,
    )
    match = _match(known, rows, 0.0)
    limbs = [np.array(limb, np.intp) for limb in branches(known.body)]
    if len(free.order):  # a column may be of any limb
        limbs = [np.arange(count)]
    ends = [search(match.of(limb), start.of(limb), _within(free, limb, start), rng) for limb in limbs]
    reading = start
    for limb, end in zip(limbs, ends, strict=True):
        reading = reading.put(limb, end.readings[0])
    many, more = (np.sort(rng.choice(len(rows), min(size, len(rows)), replace=False)) for size in (MANY, MORE))
    delay = _delay(known, match, reading, rows)
    match = _match(known, rows, delay)
    margins: list[Mapping[str, float]] = [{} for _ in range(count)]
    for limb, end in zip(limbs, ends, strict=True):
        judged = _judged(match.on(many).of(limb), end, _within(free, limb, start), again=bool(delay))
        judged = _settled(match.on(more).of(limb), judged)
        reading = reading.put(limb, judged.reading)
        for joint, margin in zip(limb.tolist(), judged.margins, strict=True):
            margins[joint] = margin
    explained = match.explained(reading)
    if float(np.median(explained.left)) > LITTLE:  # then signs and zeros are what happened to be found
        return Matched(start, _nothing(known), match.explained(start), 0.0)
    return Matched(reading, tuple(margins), explained, delay)


def _nothing(known: Known) -> tuple[Mapping[str, float], ...]:
    """Margins of a motion that tells nothing."""
    nothing = {"sign": 0.0, "offset": 0.0}
    return tuple(nothing if one is not None else nothing | {"order": 0.0} for one in known.named)


def decided(known: Known, reading: Reading, delay: float, seed: int) -> tuple[Mapping[str, float], ...]:
    """For each joint the nats by which a log decides for a reading: so much worse is another sign, zero or unit.

    What is not decided even for the true reading cannot be known from the log.
    """
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(known.raw.sound)
    rows = np.sort(rng.choice(rows, min(MORE, len(rows)), replace=False))
    match, count = _match(known, rows, delay), len(reading.columns)
    free = Free(np.arange(0), units=np.flatnonzero(known.units.open), factor=1 / DEGREE)
    margins: list[Mapping[str, float]] = [{} for _ in range(count)]
    for limb in (np.array(limb, np.intp) for limb in branches(known.body)):
        part = match.of(limb)
        at = Judged(reading.of(limb), margins_at(part, reading.of(limb), _within(free, limb, reading)))
        for joint, margin in zip(limb.tolist(), _settled(part, at).margins, strict=True):
            margins[joint] = margin
    return tuple(margins)


def _within(free: Free, limb: Index, start: Reading) -> Free:
    """What a search may change about a limb: by the numbers that its joints have among its own."""
    order = np.flatnonzero(np.isin(limb, free.order))
    units = free.units if len(order) or free.units is None else np.intersect1d(free.units, start.columns[limb])
    return replace(free, order=order, units=units)


def _settled(match: TorqueMatch, judged: Judged) -> Judged:
    """With zeros where they are most likely, but for those that motion says nothing about."""
    said = np.array([one.get("offset", 0.0) for one in judged.margins])
    found = settled(match, judged.reading, np.flatnonzero((judged.reading.offsets != 0) | (said > LIKELY)))
    margins = tuple(
        {**one, "offset": min(one["offset"], float(margin))} if "offset" in one else one
        for one, margin in zip(judged.margins, found.margins, strict=True)
    )
    return Judged(found.reading, margins)


def _judged(match: TorqueMatch, ends: Ends, free: Free, *, again: bool) -> Judged:
    """What is sure about a limb; with `again`, where the ends of searches are at other commands."""
    readings = list(ends.readings)
    if again:
        moved = (refined(match, climb(match, one, free)[0], free) for one in readings)
        readings = [reading for reading, _ in sorted(moved, key=lambda end: -end[1])]
    judged = judge(match, readings, free)
    if ends.again:
        return judged
    # What only one search found may be what it happened to find.
    return replace(
        judged, margins=tuple({what: min(margin, LUCK) for what, margin in one.items()} for one in judged.margins)
    )


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
    return TorqueMatch(known.body, motion, known.usual, known.usual_drives)


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
