"""What a motion does not decide about a reading: other readings that explain the commands nearly as well."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.logs.reading_search import CERTAIN, SHIFT, Free, changes, climb, polished, refined, swapped
from isthmus.logs.robot_body import RobotBody
from isthmus.logs.torque_match import Explained, Reading, TorqueMatch

AGAIN = 4
"""Times that a better reading among those next to the best one is taken and looked at in turn."""
LIKELY = 2.0
"""Nats by which a reading may explain less to be taken for being less unusual."""
PLAINER = 0.5
"""Nats by which a reading has to be less unusual to be taken instead of one that explains a little more."""
POOR = 0.6
"""Share of its command that a joint may leave unexplained before nothing about it counts as shown by motion."""


@dataclass(frozen=True)
class Judged:
    """A reading, and by how much it is better than others."""

    reading: Reading
    margins: tuple[Mapping[str, float], ...]
    """(n,) for each joint the nats by which the best reading with another order, sign, offset or unit is worse."""

    @property
    def unsure(self) -> tuple[tuple[str, ...], ...]:
        """(n,) what the motion does not decide about each joint: some of order, sign, offset and unit."""
        return tuple(tuple(what for what, margin in one.items() if margin < CERTAIN) for one in self.margins)


def judge(match: TorqueMatch, readings: Sequence[Reading], free: Free) -> Judged:
    """Look at the ends of searches, the best first, and at all readings next to the best.

    One that is more usual and hardly worse is taken instead.
    """
    reading, others, found = _settled(match, readings, free)
    score, strange = match.explained(reading).score, match.explained(reading).strange
    near = [
        (explained.strange, number, other)
        for number, ((_, _, other), explained) in enumerate(zip(others, found, strict=True))
        if explained.score > score - LIKELY and explained.strange < strange - PLAINER
    ]
    if near:
        reading = min(near, key=lambda one: one[:2])[2]
        others, found = _compared(match, reading, readings, free)
    return Judged(reading, _margins(match.explained(reading), others, found))


def margins_at(match: TorqueMatch, reading: Reading, free: Free) -> tuple[Mapping[str, float], ...]:
    """For each joint the nats by which readings next to one are worse than it, whether or not it is the best."""
    return _margins(match.explained(reading), *_compared(match, reading, (), free))


def _margins(best: Explained, others: "Sequence[Other]", found: Sequence[Explained]) -> tuple[Mapping[str, float], ...]:
    margins: list[dict[str, float]] = [{} for _ in best.left]
    for (what, joints, _), explained in zip(others, found, strict=True):
        margin = min(best.decided - explained.decided, best.doubted - explained.doubted)
        for joint in joints:
            margins[joint][what] = min(margin, margins[joint].get(what, np.inf))
    for joint, left in enumerate(best.left):
        if left > POOR:
            margins[joint] = {what: min(margin, 0.0) for what, margin in margins[joint].items()}
    return tuple(margins)


Other = tuple[str, list[int], Reading]


def _settled(
    match: TorqueMatch, readings: Sequence[Reading], free: Free
) -> tuple[Reading, list[Other], list[Explained]]:
    """The best reading once none next to it is better, with those next to it."""
    reading = _plainer(match, readings[0], free)
    others, found = _compared(match, reading, readings, free)
    for _ in range(AGAIN):
        best = max(range(len(found)), key=lambda number: found[number].score)
        if found[best].score < match.explained(reading).score + 1:
            break
        better = refined(match, climb(match, others[best][2], free)[0], free)[0]
        reading = _plainer(match, better, free)
        others, found = _compared(match, reading, readings, free)
    return reading, others, found


def _compared(
    match: TorqueMatch, reading: Reading, readings: Sequence[Reading], free: Free
) -> tuple[list[Other], list[Explained]]:
    """Readings next to one and ends of other searches, and how well each explains the commands."""
    others: list[Other] = [*_others(match, reading, free), *_ends(reading, readings)]
    others.append(("", list[int](), reading))
    return others, match.explained_all([other for _, _, other in others])


def _ends(reading: Reading, readings: Sequence[Reading]) -> Iterator[Other]:
    """Ends of other searches, with what differs in them."""
    for other in readings:
        differs = {
            "order": other.columns != reading.columns,
            "sign": other.signs != reading.signs,
            "offset": np.abs(other.offsets - reading.offsets) > SHIFT,
            "unit": other.scales[other.columns] != reading.scales[reading.columns],
        }
        yield from ((what, np.flatnonzero(which).tolist(), other) for what, which in differs.items() if which.any())


def _plainer(match: TorqueMatch, reading: Reading, free: Free) -> Reading:
    """The reading without offsets that the motion does not ask for."""
    score = match.explained(reading).score
    for joint in range(len(reading.columns)) if free.offsets else ():
        plain = replace(reading, offsets=_added(reading, joint, -reading.offsets[joint]))
        if match.explained(plain).score > score - LIKELY:
            reading = plain
    return reading


def branches(body: RobotBody) -> list[list[int]]:
    """The joints by the limb that they are in; a limb begins where no other of the joints carries it."""
    model = body.model
    at = {int(model.jnt_bodyid[number]): joint for joint, number in enumerate(body.ids)}
    found: dict[int, list[int]] = {}
    for joint, number in enumerate(body.ids):
        place, top = int(model.jnt_bodyid[number]), joint
        while place:
            top = at.get(place, top)
            place = int(model.body_parentid[place])
        found.setdefault(top, []).append(joint)
    return list(found.values())


def _others(match: TorqueMatch, reading: Reading, free: Free) -> Iterator[Other]:
    """Readings beside one: what differs, in which joints, and the best such reading."""
    for joint in range(len(reading.columns)):
        yield from _beside(match, reading, joint, free)
    limbs = branches(match.body)
    alone = replace(free, order=free.order[:0])
    if free.signs:
        still = replace(alone, signs=False)
        for part in _images(match.body, limbs):
            turned = [_climbed(match, one, part, still) for one in _mirrored(match, reading, part)]
            yield "sign", part, _settled_zeros(match, _best(match, turned), free)
    for joint in free.order.tolist():
        for other in free.order[free.order > joint].tolist():
            turned = _climbed(match, swapped(match, reading, joint, other), [joint, other], alone)
            yield "order", [joint, other], turned
    for number, limb in enumerate(limbs):
        for other in limbs[number + 1 :]:
            if len(limb) == len(other) > 1 and set(limb + other) <= set(free.order.tolist()):
                yield "order", limb + other, _exchanged(match, reading, limb, other, alone)


def _images(body: RobotBody, limbs: list[list[int]]) -> list[list[int]]:
    """Joints that may have turned signs together: two of a limb, or all about some of the three main directions.

    An arm and its mirror image, or one that is turned round, need the same torques.
    """
    data = mujoco.MjData(body.model)
    data.qpos[:] = body.model.key_qpos[0] if body.model.nkey else body.model.qpos0
    mujoco.mj_kinematics(body.model, data)
    main = np.abs(data.xaxis[body.ids]).argmax(axis=1)  # (n,)
    found = [[one, other] for limb in limbs for number, one in enumerate(limb) for other in limb[number + 1 :]]
    for limb in [*limbs, list(range(len(main)))]:
        sides = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
        found += [[joint for joint in limb if main[joint] in which] for which in sides]
    return [list(part) for part in dict.fromkeys(tuple(part) for part in found if len(part) > 1)]


def _beside(match: TorqueMatch, reading: Reading, joint: int, free: Free) -> Iterator[Other]:
    """Readings in which one joint has another offset, sign or unit."""
    if free.offsets:
        for change in (-SHIFT, SHIFT):
            yield "offset", [joint], replace(reading, offsets=_added(reading, joint, change))
    if free.signs:
        yield "sign", [joint], _other_sign(match, reading, joint, free)
    if free.units is not None and reading.columns[joint] in free.units:
        kept = replace(free, signs=False, offsets=False, order=free.order[:0])
        for other in changes(match, reading, joint, kept):
            yield "unit", [joint], other


def _added(reading: Reading, joint: int, change: float) -> Float:
    offsets = reading.offsets.copy()
    offsets[joint] += change
    return offsets


def _best(match: TorqueMatch, readings: list[Reading]) -> Reading:
    return match.best(readings)[0]


def _other_sign(match: TorqueMatch, reading: Reading, joint: int, free: Free) -> Reading:
    """The best reading in which a joint has the other sign."""
    only = replace(free, order=free.order[:0], units=None)
    turned = [one for one in changes(match, reading, joint, only) if one.signs[joint] != reading.signs[joint]]
    best = _best(match, turned)
    still = replace(only, signs=False)
    return _settled_zeros(match, _best(match, [best, *changes(match, best, joint, still)]), free)


def _settled_zeros(match: TorqueMatch, reading: Reading, free: Free) -> Reading:
    """With zeros where they are best, so that another sign is not ruled out for zeros that are a little off."""
    return _best(match, [reading, polished(match, reading)]) if free.offsets else reading


def _mirrored(match: TorqueMatch, reading: Reading, limb: list[int]) -> Iterator[Reading]:
    """All signs of a limb turned, about its zeros or about the middles of its motions."""
    signs = reading.signs.copy()
    signs[limb] *= -1
    offsets = reading.offsets.copy()
    offsets[limb] *= -1
    yield replace(reading, signs=signs, offsets=offsets)
    columns = reading.columns[limb]
    centre = reading.scales[columns] * (match.least[columns] + match.most[columns]) / 2
    offsets = reading.offsets.copy()
    offsets[limb] = reading.offsets[limb] + 2 * reading.signs[limb] * centre
    yield replace(reading, signs=signs, offsets=offsets)


def _exchanged(match: TorqueMatch, reading: Reading, limb: list[int], other: list[int], free: Free) -> Reading:
    """The best reading in which two limbs have each other's columns."""
    for one, two in zip(limb, other, strict=True):
        reading = swapped(match, reading, one, two)
    return _climbed(match, reading, [*limb, *other], free)


def _climbed(match: TorqueMatch, reading: Reading, joints: list[int], free: Free) -> Reading:
    """Change signs and offsets of some joints while that helps."""
    for _ in range(2 if len(joints) > 2 else 1):
        for joint in joints:
            reading = _best(match, [reading, *changes(match, reading, joint, free)])
    return reading
