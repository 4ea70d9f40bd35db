"""What a crossing comes to."""

import dataclasses
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.data import read_json, write_json
from isthmus.methods.auto import RETRAINED
from isthmus.methods.contest import SHORT

FALLS_SHORT = "no change of the policy's actions is foreseen to close this gap"
PACKAGES = ("isthmus", "mujoco", "numpy", "torch", "gymnasium")


@dataclass(frozen=True)
class CurvePoint:
    """The score after so many target samples."""

    samples: int
    normalised: float
    score: float


@dataclass(frozen=True)
class Result:
    """The figures of one run; `result.json` holds just these."""

    task: str
    gap: str
    method: str
    history: int
    seed: int
    samples: int
    """Steps taken on the target to learn from."""
    zero: float
    """Score of the zero action in the source simulator: 0 on the normalised scale."""
    expert: float
    """Score of the expert in its own simulator: 1 on the normalised scale."""
    unadapted: float
    """Score of the expert on the target."""
    adapted: float
    """Score of the adapted policy on the target."""
    spread: dict[str, float]
    """Standard deviation over the evaluation episodes of each of the above."""
    normalised_unadapted: float
    normalised_adapted: float
    evaluation_episodes: int
    curve: tuple[CurvePoint, ...]
    seconds: dict[str, float]
    """Time spent collecting, fitting and evaluating."""
    versions: dict[str, str]
    sees: str = ""
    """What the method was allowed to learn from."""
    chosen: str = ""
    """What a method that chooses among several took in the end."""
    predicted: float | None = None
    """The normalised score that it foresaw for that on the target, in rehearsal."""
    target_steps: dict[str, int] | None = None
    """Steps on a real target for collection, evaluation and traces, and its resets, those of interrupted parts of the
    run included; None for a simulated target."""

    @property
    def falls_short(self) -> bool:
        """Whether what was taken changes actions alone, and was not foreseen to close the gap."""
        return self.predicted is not None and self.predicted < SHORT and self.chosen != RETRAINED

    @property
    def further_steps(self) -> int:
        """Steps on a real target beyond those learned from."""
        steps = self.target_steps or {}
        return sum(steps.values()) - steps.get("resets", 0) - self.samples if steps else 0

    def to_json(self) -> dict[str, Any]:
        """These figures as plain data."""
        return dataclasses.asdict(self)

    def save(self, path: Path) -> None:
        """Write the figures."""
        write_json(path, self.to_json())

    @staticmethod
    def load(path: Path) -> "Result":
        """Read the figures."""
        data = read_json(path)
        try:
            data["curve"] = tuple(CurvePoint(**point) for point in data["curve"])
            return Result(**data)
        except (KeyError, TypeError) as error:
            raise Problem(f"{path} is not a run's result ({error})") from error


def versions() -> dict[str, str]:
    """What this was computed with."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
