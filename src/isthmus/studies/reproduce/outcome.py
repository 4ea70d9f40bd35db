"""What came of a cell."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from isthmus.data import from_json, read_json
from isthmus.experts import expert_path
from isthmus.studies.reproduce.case import Cell
from isthmus.studies.reproduce.settings import SHARE
from isthmus.transfer import Result


@dataclass(frozen=True)
class Outcome:
    """The figures of a cell. No times are among them: a cell that was stopped and resumed gives the same file."""

    robot: str
    gap: str
    arm: str
    seed: int
    unadapted: float
    """Normalised score of the expert on the target."""
    adapted: float
    """Normalised score at the end."""
    samples: int
    """Steps taken on the target in all."""
    samples_to_share: int | None
    """Steps until the adapted policy held 3/4 of the expert; None when it never did."""
    curve: tuple[tuple[int, float], ...]
    """Normalised score after so many samples; the first is the unadapted policy's."""
    config: dict[str, Any]
    expert: str
    """Digest of the expert's weights."""
    versions: dict[str, str]

    @staticmethod
    def of(cell: Cell, result: Result) -> "Outcome":
        """The figures of a finished crossing."""
        curve = tuple((point.samples, point.normalised) for point in result.curve)
        return Outcome(
            robot=cell.case.robot,
            gap=cell.case.gap,
            arm=cell.case.arm,
            seed=cell.seed,
            unadapted=result.normalised_unadapted,
            adapted=result.normalised_adapted,
            samples=result.samples,
            samples_to_share=samples_until(SHARE, curve),
            curve=curve,
            config=_plain(cell),
            expert=expert_digest(cell.case.robot),
            versions=result.versions,
        )

    @staticmethod
    def load(path: Path) -> "Outcome":
        """Read the figures."""
        return from_json(Outcome, read_json(path), path, "a cell's figures", "; remove it to make it again")

    def to_text(self) -> str:
        """As JSON, a figure a line: there are hundreds of these files, and people look into them."""
        lines = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in dataclasses.asdict(self).items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def mismatch(self, cell: Cell) -> str | None:
        """What was different when this was made from what `cell` is now, if anything was."""
        if self.expert != expert_digest(cell.case.robot):
            return "with another expert"
        now = _flat(_plain(cell))
        for name, then in _flat(self.config).items():  # a setting that came later was not there to be different
            if now.get(name) != then:
                return f"with other settings ({name} was {then}, is {now.get(name)})"
        return None


def samples_until(share: float, curve: Sequence[tuple[int, float]]) -> int | None:
    """Samples at the first of the first two evaluations in a row that are at `share` or above.

    What scores without a single sample is the unadapted policy: it does not count.
    """
    adapted = [point for point in curve if point[0] > 0]
    for (samples, score), (_, after) in pairwise(adapted):
        if min(score, after) >= share:
            return samples
    return None


def _plain(cell: Cell) -> dict[str, Any]:
    """The settings as JSON gives them back."""
    return json.loads(json.dumps(cell.config.to_json()))


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, part in value.items():
        flat |= _flat(part, f"{prefix}{name}.") if isinstance(part, dict) else {prefix + name: part}  # pyright: ignore[reportUnknownArgumentType]
    return flat


@cache
def expert_digest(robot: str) -> str:
    """Tells one expert of a robot from another; the same from the start of a study to its end."""
    path = expert_path(robot)
    return hashlib.blake2b(path.read_bytes() if path.exists() else b"", digest_size=16).hexdigest()
