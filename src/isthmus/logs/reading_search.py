"""Search for the reading of a log's columns that explains its commands best."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float
from isthmus.logs.robot_body import Index
from isthmus.logs.torque_match import Reading, TorqueMatch

FEW, MANY = 40, 80
"""Moments that a search and a judgement look at."""
OFFSETS = 7
"""Zero offsets that are tried for a joint in one pass."""
FINE = (-0.3, -0.1, 0.1, 0.3)
"""Changes of an offset that are tried around the one so far, in rad."""
MOST_OFFSET = np.pi
"""rad: zeros of joints that turn freely are no further apart."""
RESTARTS = 40
MOST_ROWS = 80_000
"""Moments of inverse dynamics a joint that beginnings are tried for, and twice as many where the order is not known."""
POLISHES, POLISHING, NUDGE = 3, 12, 1e-3
"""How often zeros are moved together in a climb, in how many steps, and the rad by which slopes are measured."""
SAME_AGAIN = 2
"""Times that the best reading has to be found anew before a search is over."""
EQUAL = 2.0
"""Nats between readings that explain the same."""
NEARLY = 20.0
"""Nats that the end of a search may be worse than the best one, at a few moments, to be looked at again at more."""
MOST_KEPT = 4
CERTAIN = 6.0
"""Nats by which another reading has to be worse to be ruled out."""
SHIFT = 0.15
"""rad by which an offset is moved to see whether the motion minds."""


@dataclass(frozen=True)
class Free:
    """What a search may change."""

    order: Index
    """Joints whose column is not known by name."""
    signs: bool = True
    offsets: bool = True
    units: Index | None = None
    """Columns that may be in degrees where they were taken for radians, or the other way."""
    factor: float = 180 / np.pi
    """By which the scale of such a column may be wrong, either way."""


@dataclass(frozen=True)
class Ends:
    """Where searches ended."""

    readings: tuple[Reading, ...]
    """The best first."""
    again: bool
    """Whether the best reading was found again by a search that began at random."""


def search(match: TorqueMatch, start: Reading, free: Free, rng: np.random.Generator) -> Ends:
    """Readings that no single change makes better: from `start`, and from random beginnings.

    Searches go on until the best reading has been found again.
    """
    rows = len(match.motion.position)
    small = match.on(_spread(rows, FEW, rng))
    best, best_score = climb(small, start, free)
    found, again = [(best_score, best)], 0
    most = MOST_ROWS * len(start.columns) * (2 if len(free.order) else 1)
    while small.moments < most and len(found) <= RESTARTS and again < SAME_AGAIN:
        reading, score = climb(small, _shuffled(small, best, free, rng), free)
        found.append((score, reading))
        same = _alike(reading, best) or (_as_good(score, best_score) and _same_joints(reading, best))
        if score > best_score:
            best, best_score = reading, score
            again = again if same else 0
        again += same
    large = match.on(_spread(rows, MANY, rng))
    kept: list[Reading] = []
    for score, one in sorted(found, key=lambda end: -end[0]):
        if score > best_score - NEARLY and not any(_alike(one, other) for other in kept):
            kept.append(one)
    ends = [refined(large, climb(large, one, free)[0], free) for one in kept[:MOST_KEPT]]
    ends.sort(key=lambda end: -end[1])
    return Ends(tuple(reading for reading, _ in ends), again > 0)


def _alike(one: Reading, other: Reading) -> bool:
    return _same_joints(one, other) and bool(np.all(np.abs(one.offsets - other.offsets) < 0.2))


def _same_joints(one: Reading, other: Reading) -> bool:
    """Whether readings differ in no more than their zeros."""
    return np.array_equal(one.columns, other.columns) and np.array_equal(one.signs, other.signs)


def _as_good(score: float, best: float) -> bool:
    """Whether readings explain the same: the log does not decide between their zeros then."""
    return abs(score - best) < EQUAL


def _spread(rows: int, count: int, rng: np.random.Generator) -> Index:
    return np.sort(rng.choice(rows, min(count, rows), replace=False))


def _shuffled(match: TorqueMatch, reading: Reading, free: Free, rng: np.random.Generator) -> Reading:
    """Another beginning, with everything that is free at random."""
    columns, signs = reading.columns.copy(), reading.signs.copy()
    columns[free.order] = columns[rng.permutation(free.order)]
    if free.signs:
        signs *= rng.choice([-1.0, 1.0], len(signs))
    mixed = replace(reading, columns=columns, signs=signs)
    return replace(mixed, offsets=rng.uniform(*allowed(match, mixed))) if free.offsets else mixed


def allowed(match: TorqueMatch, reading: Reading) -> tuple[Float, Float]:
    """Offsets (n,), from and to, that keep the motion within the joints' limits."""
    factor = reading.signs * reading.scales[reading.columns]
    ends = factor * np.stack([match.least[reading.columns], match.most[reading.columns]])
    low: Float = np.maximum(match.body.low - np.min(ends, axis=0), -MOST_OFFSET)
    high: Float = np.minimum(match.body.high - np.max(ends, axis=0), MOST_OFFSET)
    middle = (low + high) / 2  # a motion that is wider than the limits lies in their middle
    return np.where(low <= high, low, middle), np.where(low <= high, high, middle)


def climb(match: TorqueMatch, reading: Reading, free: Free) -> tuple[Reading, float]:
    """Take the best change of one joint after the other, and move all zeros together, until neither helps."""
    reading, score = _climbed(match, reading, free)
    for _ in range(POLISHES if free.offsets else 0):
        moved = polished(match, reading)
        better = match.explained(moved).score
        if better < score + 1:
            break
        reading, score = _climbed(match, moved, free)
    return reading, score


def _climbed(match: TorqueMatch, reading: Reading, free: Free) -> tuple[Reading, float]:
    score, unchanged, joint = match.explained(reading).score, 0, 0
    count = len(reading.columns)
    while unchanged < count:
        tried = list(changes(match, reading, joint, free))
        if tried:
            changed, better = match.best(tried)
            if better.score > score + 0.1:
                reading, score, unchanged = changed, better.score, -1
        unchanged += 1
        joint = (joint + 1) % count
    return reading, score


def polished(match: TorqueMatch, reading: Reading) -> Reading:
    """The reading with all zeros moved together to where they explain the commands best.

    Zeros of neighbouring joints make up for each other, so that moving one at a time would take very many steps.
    """

    def cost(offsets: Float) -> tuple[float, Float]:
        tried = [replace(reading, offsets=one) for one in (offsets, *(offsets + NUDGE * np.eye(len(offsets))))]
        costs = np.array([-one.likelihood for one in match.explained_all(tried)])
        return float(costs[0]), (costs[1:] - costs[0]) / NUDGE

    low, high = (limit.tolist() for limit in allowed(match, reading))
    bounds = [(least - 0.05, most + 0.05) for least, most in zip(low, high, strict=True)]
    options = {"maxiter": POLISHING}
    found: Any = minimize(  # pyright: ignore[reportUnknownVariableType]
        cost, reading.offsets, method="L-BFGS-B", jac=True, bounds=bounds, options=options
    )
    return replace(reading, offsets=np.asarray(found.x, np.float64))


def refined(match: TorqueMatch, reading: Reading, free: Free) -> tuple[Reading, float]:
    """The reading with its zeros where they are best; one that is nearly none becomes none."""
    score = match.explained(reading).score
    if free.offsets:
        reading, score = max(
            ((one, match.explained(one).score) for one in (reading, polished(match, reading))), key=lambda end: end[1]
        )
        for joint in range(len(reading.columns)):
            plain = _moved(reading, joint, 0.0)
            if match.explained(plain).score > score:
                reading, score = plain, match.explained(plain).score
    return reading, score


def changes(match: TorqueMatch, reading: Reading, joint: int, free: Free) -> Iterator[Reading]:
    """Readings that differ in the column, the sign, the unit or the offset of one joint; columns are exchanged."""
    if joint in free.order:
        yield from _other_columns(match, reading, joint, free)
    if free.signs:
        turned = replace(reading, signs=_with(reading.signs, joint, -reading.signs[joint]))
        yield _kept_middle(match, reading, joint, sign=-reading.signs[joint])
        yield _moved(turned, joint, -reading.offsets[joint])
    column = int(reading.columns[joint])
    if free.units is not None and column in free.units:
        for factor in (free.factor, 1 / free.factor, 1.0):
            if factor != reading.scales[column]:
                yield _kept_middle(match, reading, joint, scale=factor)
    if free.offsets:
        yield from (_moved(reading, joint, offset) for offset in _other_offsets(match, reading, joint))


def _other_columns(match: TorqueMatch, reading: Reading, joint: int, free: Free) -> Iterator[Reading]:
    taken = reading.columns.tolist()
    for column in range(match.motion.position.shape[1]):
        other = taken.index(column) if column in taken else None
        if other is None:
            yield _kept_middle(match, reading, joint, column=column)
        elif other in free.order and other > joint:
            yield swapped(match, reading, joint, other)
            if free.signs and reading.signs[joint] != reading.signs[other]:
                yield swapped(match, reading, joint, other, with_signs=True)


def _other_offsets(match: TorqueMatch, reading: Reading, joint: int) -> list[float]:
    """None, that of the command, some over what the limits leave, and some around the one so far."""
    low, high = allowed(match, reading)
    found: list[float] = [0.0, *np.linspace(float(low[joint]), float(high[joint]), OFFSETS).tolist()]
    found += [float(reading.offsets[joint]) + change for change in FINE]
    if match.motion.servo:
        found.append(float(-reading.signs[joint] * match.motion.command_offsets[reading.columns[joint]]))
    return found


def swapped(match: TorqueMatch, reading: Reading, joint: int, other: int, *, with_signs: bool = False) -> Reading:
    """The reading with the columns of two joints exchanged; the joints keep the middles of their motions."""
    one, two = int(reading.columns[joint]), int(reading.columns[other])
    signs = (reading.signs[other], reading.signs[joint]) if with_signs else (None, None)
    first = _kept_middle(match, reading, joint, column=two, sign=signs[0])
    return _kept_middle(match, first, other, column=one, sign=signs[1])


def _kept_middle(
    match: TorqueMatch,
    reading: Reading,
    joint: int,
    column: int | None = None,
    sign: float | None = None,
    scale: float | None = None,
) -> Reading:
    """The reading with another column, sign or unit of one joint, whose motion keeps its middle."""
    centre = (match.least + match.most) / 2
    before = int(reading.columns[joint])
    middle = reading.signs[joint] * reading.scales[before] * centre[before] + reading.offsets[joint]
    now = before if column is None else column
    turned = float(reading.signs[joint]) if sign is None else sign
    scales = reading.scales if scale is None else _with(reading.scales, now, scale)
    columns = reading.columns.copy()
    columns[joint] = now
    return Reading(
        columns,
        _with(reading.signs, joint, turned),
        _with(reading.offsets, joint, middle - turned * scales[now] * centre[now]),
        scales,
    )


def _moved(reading: Reading, joint: int, offset: float) -> Reading:
    return replace(reading, offsets=_with(reading.offsets, joint, offset))


def _with(values: Float, place: int, value: float) -> Float:
    changed = values.copy()
    changed[place] = value
    return changed
