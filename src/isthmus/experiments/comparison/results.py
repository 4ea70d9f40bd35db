"""The fields of a comparison's results, against which stored ones are checked."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MethodResult:
    """The result of a method from one seed; files of earlier versions lack the fields with a default."""

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
class OracleResult:
    """The result of the oracle with one metric; files of earlier versions lack the fields with a default."""

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
