"""How large a gap of each family has to be to leave a policy a given share of its score."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.experiments.store import expert_digest
from isthmus.experiments.suite.settings import NEAR
from isthmus.io import from_json, read_json, write_json
from isthmus.transfer import PolicyFile

SHIPPED = Path(__file__).parent / "calibration"
"""The calibration for the experts that ship."""


@dataclass(frozen=True)
class Rung:
    """The size of a gap at which the unadapted policy keeps a share of its score."""

    share: float
    """The share that was looked for."""
    gap: str
    unadapted: float
    """The share that was found."""

    @property
    def is_met(self) -> bool:
        """Whether it is as near as can be wanted: a delay of one step may cost more than half."""
        return abs(self.unadapted - self.share) <= NEAR


@dataclass(frozen=True)
class CalibratedFamily:
    """A family on one robot."""

    family: str
    rungs: tuple[Rung, ...]
    """Those that it can cost."""
    note: str
    """What it cannot cost, and why; empty where it has every rung."""
    tried: tuple[tuple[str, float], ...]
    """Every size that was tried, and the share of its score that it left the policy."""


@dataclass(frozen=True)
class Calibration:
    """All families on one robot, for one policy."""

    task: str
    policy: str
    """Digest of the policy's file."""
    episodes: int
    seed: int
    command: str
    commit: str
    families: tuple[CalibratedFamily, ...]

    def save(self, folder: Path) -> Path:
        """Write TASK.json."""
        path = folder / f"{self.task}.json"
        write_json(path, dataclasses.asdict(self))
        return path

    @staticmethod
    def load(path: Path) -> "Calibration":
        """Read a calibration."""
        data: Any = read_json(path)
        return from_json(Calibration, data, path, "a calibration", ": make it again with --calibrate")

    def rows(self) -> list[tuple[str, ...]]:
        """The rungs for people, under `COLUMNS`."""
        rows: list[tuple[str, ...]] = []
        for one in self.families:
            for rung in one.rungs:
                missed = "" if rung.is_met else "the score jumps over this rung"
                rows.append((self.task, one.family, f"{rung.share:g}", rung.gap, f"{rung.unadapted:.2f}", missed))
            if one.note:
                rows.append((self.task, one.family, "", "", "", one.note))
        return rows


COLUMNS = ("task", "family", "rung ", "gap", "unadapted ", "note")


def policy_digest(task: str, policy: PolicyFile | None) -> str:
    """Tells one policy from another."""
    return policy.digest if policy else expert_digest(task)


def find_calibration(task: str, policy: PolicyFile | None, folder: Path) -> Calibration | None:
    """The calibration in `folder`, or the one that ships; None where there is none for this policy."""
    digest = policy_digest(task, policy)
    mine = folder / f"{task}.json"
    if mine.exists():
        found = Calibration.load(mine)
        if found.policy != digest:
            raise Problem(f"{mine} is for another policy: give another --out, or remove it")
        return found
    shipped = SHIPPED / f"{task}.json"
    found = Calibration.load(shipped) if shipped.exists() else None
    return found if found is not None and found.policy == digest else None
