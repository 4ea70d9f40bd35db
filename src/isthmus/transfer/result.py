"""What a run comes to."""

import dataclasses
import platform
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from isthmus.adapt.auto.method import CONDITIONED, FINETUNED
from isthmus.adapt.auto.selection import SHORT
from isthmus.core.commit import current_commit
from isthmus.core.loss import noticeable_loss, recovered, relative_loss
from isthmus.evaluate.effort import Effort
from isthmus.io import from_json, read_json, write_json
from isthmus.transfer.old_names import RESULT, current_names

FALLS_SHORT = "no change of the policy's actions is predicted to close this gap"
DERIVED = ("relative_loss", "loss_in_stds", "recovered")
"""What `result.json` says besides, and what follows from the other figures."""
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
    std: dict[str, float]
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
    """The normalised score that was predicted for that on the target, in rehearsal."""
    predicted_unadapted: float | None = None
    """And the one that was predicted for the policy as it is."""
    predicted_short: bool | None = None
    """Whether too much of the loss was predicted to stay, whatever was taken; None where nothing was predicted."""
    effort: dict[str, Effort] = field(default_factory=dict[str, Effort])
    """How hard the actuators worked under the expert in its simulator, unadapted and adapted on the target."""
    target_steps: dict[str, int] | None = None
    """Steps on a real target for collection, evaluation and traces, and its resets, those of interrupted parts of the
    run included; None for a simulated target."""

    @property
    def falls_short(self) -> bool:
        """Whether what was taken changes actions alone, and was not predicted to close the gap."""
        if self.predicted is None or self.chosen in (FINETUNED, CONDITIONED):
            return False
        return self.predicted < SHORT if self.predicted_short is None else self.predicted_short

    @property
    def chatters(self) -> bool:
        """Whether commands change much more from step to step than those of the policy as it is, here or at home."""
        adapted, others = self.effort.get("adapted"), [self.effort.get(name) for name in ("expert", "unadapted")]
        return adapted is not None and all(one is not None and adapted.chatters_beside(one) for one in others)

    @property
    def chatter_text(self) -> str:
        """A warning where adaptation makes the robot chatter; else nothing."""
        if not self.chatters:
            return ""
        before, after = (f"{self.effort[name].command_rate:.2f}" for name in ("unadapted", "adapted"))
        return (
            f"adaptation makes the robot chatter: commands change by {after} half ranges a step, and by {before} before"
        )

    @property
    def relative_loss(self) -> dict[str, float | None]:
        """What each policy loses on the target, as a share of the size of the expert's score."""
        scores = {"unadapted": self.unadapted, "adapted": self.adapted}
        return {name: relative_loss(self.expert, score) for name, score in scores.items()}

    @property
    def loss_in_stds(self) -> dict[str, float | None]:
        """The same losses in standard deviations of the expert's scores over episodes; None where those are alike."""
        scores, std = {"unadapted": self.unadapted, "adapted": self.adapted}, self.std["expert"]
        return {name: (self.expert - score) / std if std else None for name, score in scores.items()}

    @property
    def recovered(self) -> float | None:
        """The share of the loss that adaptation makes up for; None where nothing noticeable is lost."""
        return recovered(self.expert, self.unadapted, self.adapted) if self.is_felt else None

    @property
    def is_felt(self) -> bool:
        """Whether the gap costs the unadapted policy anything that one would notice."""
        least = noticeable_loss(self.expert, self.std["expert"], self.zero)
        return self.expert - self.unadapted > least

    @property
    def further_steps(self) -> int:
        """Steps on a real target beyond those learned from."""
        steps = self.target_steps or {}
        return sum(steps.values()) - steps.get("resets", 0) - self.samples if steps else 0

    def to_json(self) -> dict[str, Any]:
        """These figures as plain data, with the losses that follow from them."""
        return dataclasses.asdict(self) | {name: getattr(self, name) for name in DERIVED}

    def save(self, path: Path) -> None:
        """Write the figures."""
        write_json(path, self.to_json())

    @staticmethod
    def load(path: Path) -> "Result":
        """Read the figures."""
        figures = current_names(read_json(path), RESULT)
        derived = {name: figures.pop(name) for name in DERIVED if name in figures}
        from_json(_Derived, derived, path, "a run's result")
        return from_json(Result, figures, path, "a run's result")


@dataclass(frozen=True)
class _Derived:
    """What a file says besides: it is checked, and computed again."""

    relative_loss: dict[str, float | None] = field(default_factory=dict[str, float | None])
    loss_in_stds: dict[str, float | None] = field(default_factory=dict[str, float | None])
    recovered: float | None = None


def versions() -> dict[str, str]:
    """What this was computed with."""
    packages = dict[str, str]()
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # not everybody has them all
            packages[name] = version(name)
    return {"commit": current_commit(), "python": platform.python_version()} | packages
