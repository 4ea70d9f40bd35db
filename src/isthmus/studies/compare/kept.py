"""What a comparison keeps of a job, as it is checked when it is read again."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kept:
    """The content of a cell's file."""

    settings: dict[str, Any]
    """What the job was done with."""
    expert: str
    """Digest of the expert's weights."""
    found: dict[str, Any]
    """What came of it: the fields of `KeptCrossing` or `KeptOracle`."""


@dataclass(frozen=True)
class KeptCrossing:
    """What came of a crossing; fields with a default came later than the first files."""

    normalised: float
    unadapted: float
    episode_error: float
    samples: int
    curve: tuple[tuple[int, float], ...]
    fit_seconds: float
    step_microseconds: float | None
    versions: dict[str, str]
    chosen: str = ""
    predicted: float | None = None
    step_p99_microseconds: float | None = None


@dataclass(frozen=True)
class KeptOracle:
    """What came of the oracle's attempt."""

    oracle: bool
    estimate: bool
    task: str
    gap: str
    metric: str
    episodes: int
    seed: int
    normalised: float
    standard_error: float
    normalised_unadapted: float
    limited: float
    unactuated: float
    missed: dict[str, float]
    out_of_reach: float
    fitted: dict[str, Any] | None = None
    commit: str = ""
