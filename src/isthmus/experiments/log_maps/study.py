"""Disguise logs at random, map them, and compare with what was done to them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core.commit import current_commit
from isthmus.experiments.log_maps.disguise import DEGREE, Disguise, disguised, random_disguise
from isthmus.experiments.log_maps.recording import record
from isthmus.experiments.log_maps.robots import kind_of_case
from isthmus.io import read_json, write_json
from isthmus.logs import Log
from isthmus.logs.assemble import Proposal, propose
from isthmus.logs.propose import decided, know
from isthmus.logs.reading_search import CERTAIN
from isthmus.logs.robot_body import RobotBody
from isthmus.logs.torque_match import Reading

SECONDS = 20.0
CLOSE = 0.1
"""rad by which a zero may be off to be found."""
PARTS: tuple[str, ...] = ("order", "sign", "offset", "unit")
DERIVED = ("found", "complete", "knowable")
COUNTS = ("right", "unsure", "wrong_and_sure", "undecided", "missed")


@dataclass(frozen=True)
class Outcome:
    """What was found of one disguised log."""

    case: int
    robot: str
    command: str
    names: bool
    degrees: bool
    joints: int
    right: dict[str, int]
    """Joints for which each part was found, right whether sure or not."""
    unsure: dict[str, int]
    """Joints for which each part was said to be not sure."""
    wrong_and_sure: dict[str, int]
    """Joints for which each part is wrong and nothing was said."""
    undecided: dict[str, int]
    """Joints for which another sign, zero or unit explains the log as well as the true one, or nearly so."""
    missed: dict[str, int]
    """Joints for which each part is wrong though the log decides it, or wrong without being said to be not sure."""
    delay_error: float
    """Seconds between the delay of commands that was found and that of the recording."""

    @property
    def found(self) -> bool:
        """Whether everything that was said to be sure is right."""
        return not any(self.wrong_and_sure.values())

    @property
    def complete(self) -> bool:
        """Whether all of it is right, sure or not."""
        return all(self.right[part] == self.joints for part in PARTS)

    @property
    def knowable(self) -> bool:
        """Whether all that the log decides is right, and the rest is right or said to be not sure."""
        return not any(self.missed.values())


def run_case(number: int, seed: int) -> Outcome:
    """Record, disguise, map and compare one case."""
    kind = kind_of_case(number)
    rng = np.random.default_rng([seed, number])
    body = kind.body()
    recording = record(body, kind.command, SECONDS, rng)
    disguise = random_disguise(body, rng, names=kind.names)
    log = disguised(recording, body, disguise, rng)
    found = propose(log, body, seed=seed)
    undecided = undecided_parts(log, body, disguise, found.log_map.command_delay, seed)
    right, unsure, wrong, missed = compare(found, body, disguise, undecided)
    return Outcome(
        *(number, kind.robot, kind.command, kind.names, disguise.degrees, len(body.joints), right, unsure, wrong),
        undecided={part: sum(part in one for one in undecided) for part in PARTS},
        missed=missed,
        delay_error=round(found.log_map.command_delay - recording.delay, 5),
    )


def undecided_parts(log: Log, body: RobotBody, disguise: Disguise, delay: float, seed: int) -> list[set[str]]:
    """What cannot be known of each joint: the true reading is hardly better than one that differs in it.

    Looks at how the log was disguised, as the mapper cannot. The order is always taken to be knowable.
    """
    known = know(log, body, {})
    columns = np.argsort(disguise.order)
    scale = np.where(body.hinges, DEGREE if disguise.degrees else 1.0, 1.0)
    scales = np.ones(len(known.units.scales))
    scales[columns] = scale / known.units.scales[columns]
    margins = decided(known, Reading(columns, disguise.signs, disguise.offsets, scales), delay, seed)
    found = [{part for part, margin in one.items() if margin < CERTAIN} for one in margins]
    # The zero of a joint that may as well be negated is not known either.
    return [one | {"offset"} if "sign" in one else one for one in found]


def compare(
    found: Proposal, body: RobotBody, disguise: Disguise, undecided: Sequence[Collection[str]]
) -> tuple[dict[str, int], ...]:
    """Joints for which each part is right, is said to be not sure, is wrong without that, and is missed."""
    right, unsure, wrong, missed = (dict.fromkeys(PARTS, 0) for _ in range(4))
    column_of = np.argsort(disguise.order)
    scale = DEGREE if disguise.degrees else 1.0
    for joint, (sources, said) in enumerate(zip(found.log_map.joints, found.found, strict=True)):
        position = sources.position
        wanted = scale if body.hinges[joint] else 1.0
        parts = {
            "order": position.column == int(column_of[joint]),
            "sign": position.sign == int(disguise.signs[joint]),
            "offset": abs(position.offset - float(disguise.offsets[joint])) < CLOSE,
            "unit": abs(position.scale / wanted - 1) < 1e-6,
        }
        for part, good in parts.items():
            right[part] += good
            unsure[part] += part in said.unsure
            # A sign or a zero of a joint that may be another one is not sure either.
            unsaid = not good and part not in said.unsure and "order" not in said.unsure
            wrong[part] += unsaid
            missed[part] += unsaid or (not good and part not in undecided[joint])
    return right, unsure, wrong, missed


def run_study(cases: Sequence[int], seed: int, out: Path, done: Callable[[Outcome], None]) -> dict[str, Any]:
    """All cases; what a file of the same study has is not done again, and it is written after each case."""
    path = out / "logs-map.json"
    commit = current_commit()
    outcomes = _before(path, seed)
    for number in cases:
        if number not in outcomes:
            outcomes[number] = run_case(number, seed)
            write_json(path, _figures([outcomes[one] for one in sorted(outcomes)], seed, commit))
        done(outcomes[number])
    figures = _figures([outcomes[number] for number in cases], seed, commit)
    write_json(path, figures)
    return figures


def _before(path: Path, seed: int) -> dict[int, Outcome]:
    if not path.is_file():
        return {}
    stored: dict[str, Any] = read_json(path)
    if stored.get("commit") != current_commit() or stored.get("seed") != seed or "+" in current_commit():
        return {}
    return {one["case"]: Outcome(**{k: v for k, v in one.items() if k not in DERIVED}) for one in stored["cases"]}


def _figures(outcomes: list[Outcome], seed: int, commit: str) -> dict[str, Any]:
    return {
        "commit": commit,
        "seed": seed,
        "seconds": SECONDS,
        "close": CLOSE,
        **{name: sum(getattr(one, name) for one in outcomes) for name in DERIVED},
        "of": len(outcomes),
        "joints": sum(one.joints for one in outcomes),
        **{name: {part: sum(getattr(one, name)[part] for one in outcomes) for part in PARTS} for name in COUNTS},
        "cases": [{**asdict(one), **{name: getattr(one, name) for name in DERIVED}} for one in outcomes],
    }
