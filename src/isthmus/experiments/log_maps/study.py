"""Disguise logs at random, map them, and compare with what was done to them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core.commit import current_commit
from isthmus.experiments.log_maps.disguise import DEGREE, Disguise, disguised, random_disguise
from isthmus.experiments.log_maps.recording import record
from isthmus.experiments.log_maps.robots import kind_of_case
from isthmus.io import read_json, write_json
from isthmus.logs.assemble import Proposal, propose
from isthmus.logs.robot_body import RobotBody

SECONDS = 20.0
CLOSE = 0.1
"""rad by which a zero may be off to be found."""
PARTS: tuple[str, ...] = ("order", "sign", "offset", "unit")


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


def run_case(number: int, seed: int) -> Outcome:
    """Record, disguise, map and compare one case."""
    kind = kind_of_case(number)
    rng = np.random.default_rng([seed, number])
    body = kind.body()
    recording = record(body, kind.command, SECONDS, rng)
    disguise = random_disguise(body, rng, names=kind.names)
    found = propose(disguised(recording, body, disguise, rng), body, seed=seed)
    right, unsure, wrong = compare(found, body, disguise)
    return Outcome(
        number,
        kind.robot,
        kind.command,
        kind.names,
        disguise.degrees,
        len(body.joints),
        right,
        unsure,
        wrong,
        round(found.log_map.command_delay - recording.delay, 5),
    )


def compare(
    found: Proposal, body: RobotBody, disguise: Disguise
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Joints for which each part is right, is said to be not sure, and is wrong without that."""
    right, unsure, wrong = (dict.fromkeys(PARTS, 0) for _ in range(3))
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
            wrong[part] += not good and part not in said.unsure and "order" not in said.unsure
    return right, unsure, wrong


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
    return {
        one["case"]: Outcome(**{k: v for k, v in one.items() if k not in ("found", "complete")})
        for one in stored["cases"]
    }


def _figures(outcomes: list[Outcome], seed: int, commit: str) -> dict[str, Any]:
    joints = sum(one.joints for one in outcomes)
    return {
        "commit": commit,
        "seed": seed,
        "seconds": SECONDS,
        "close": CLOSE,
        "found": sum(one.found for one in outcomes),
        "complete": sum(one.complete for one in outcomes),
        "of": len(outcomes),
        "joints": joints,
        "right": {part: sum(one.right[part] for one in outcomes) for part in PARTS},
        "unsure": {part: sum(one.unsure[part] for one in outcomes) for part in PARTS},
        "wrong_and_sure": {part: sum(one.wrong_and_sure[part] for one in outcomes) for part in PARTS},
        "cases": [{**asdict(one), "found": one.found, "complete": one.complete} for one in outcomes],
    }
