"""How much a real target was moved, and what for: every step costs it time and wear, not only those learned from."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from isthmus.core import Problem
from isthmus.io import read_json

Purpose = Literal["collection", "evaluation", "traces"]


@dataclass(frozen=True)
class Taken:
    """What a target was asked to do."""

    steps: int = 0
    resets: int = 0


@dataclass(frozen=True)
class TargetSteps:
    """Steps on a real target by what they were for, and resets for all together."""

    collection: int = 0
    """To learn from."""
    evaluation: int = 0
    """To score policies."""
    traces: int = 0
    """To record the episodes that the report shows."""
    resets: int = 0

    @property
    def further(self) -> int:
        """Steps beyond those that were learned from."""
        return self.evaluation + self.traces

    @property
    def total(self) -> int:
        """Steps for all purposes."""
        return self.collection + self.further

    def plus(self, purpose: Purpose, taken: Taken) -> "TargetSteps":
        """With more for a purpose."""
        counts = asdict(self)
        counts[purpose] += taken.steps
        counts["resets"] += taken.resets
        return TargetSteps(**counts)

    def to_json(self) -> dict[str, int]:
        """As plain data."""
        return asdict(self)

    @staticmethod
    def load(path: Path) -> "TargetSteps":
        """Read a count; all zero where there is no file."""
        data = read_json(path) if path.exists() else {}
        names = TargetSteps().to_json()
        if not all(name in names and isinstance(count, int) and count >= 0 for name, count in data.items()):
            raise Problem(f"{path} does not count steps; remove it to count from here on")
        return TargetSteps(**data)


class StepCounter:
    """Counts what a target is asked to do, through all parts of a run: the count is kept in the run's folder."""

    def __init__(self, path: Path, keep: Callable[[Path, object], None], taken: Callable[[], Taken | None]) -> None:
        """Read the count at `path` and write it there by `keep`.

        `taken` says how far the target is, or None for one that costs nothing.
        """
        self._path, self._keep, self._taken = path, keep, taken

    @property
    def steps(self) -> TargetSteps | None:
        """The count so far; None for a target that costs nothing."""
        return None if self._taken() is None else TargetSteps.load(self._path)

    @contextmanager
    def counting(self, purpose: Purpose) -> Generator[None]:
        """What is done in here is for that purpose; it is written down however it ends."""
        before = self._taken()
        try:
            yield
        finally:
            after = self._taken()
            if before is not None and after is not None and after != before:
                more = Taken(after.steps - before.steps, after.resets - before.resets)
                self._keep(self._path, TargetSteps.load(self._path).plus(purpose, more).to_json())
