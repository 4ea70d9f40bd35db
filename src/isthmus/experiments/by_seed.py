"""The results of one configuration from several seeds, and their quartiles."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.core.commit import commits_of
from isthmus.experiments.grid import Json

MISSING, NOT_REACHED = "missing", "not reached"


@dataclass(frozen=True)
class BySeed:
    """Results by seed, as far as they have been computed."""

    found: Mapping[int, Json]
    missing: tuple[int, ...]
    """Seeds that have not been computed yet."""

    @property
    def seeds(self) -> str:
        """How many seeds there are, of how many."""
        there = len(self.found)
        return f"{there} of {there + len(self.missing)}" if self.missing else str(there)

    @property
    def commit(self) -> str:
        """The commits of the code that computed the results."""
        return commit_text(self.values("versions"))

    def values(self, name: str) -> list[Any]:
        """One figure of every seed."""
        return [one[name] for one in self.found.values()]


def commit_text(versions: Sequence[Mapping[str, str]]) -> str:
    """The commits among the versions of software that results were computed with."""
    return ", ".join(commits_of(versions))


def distinct(versions: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The versions of software, each set once: one, unless software changed while an experiment ran."""
    return [dict(one) for one in sorted({tuple(sorted(each.items())) for each in versions})]


@dataclass(frozen=True)
class Quartiles:
    """Median and quartiles; None lies beyond all that was measured."""

    median: float | None
    low: float | None
    high: float | None

    @staticmethod
    def of(values: Sequence[float | None]) -> "Quartiles":
        """The quartiles of at least one value, where None counts as larger than any other."""
        ordered = sorted(math.inf if value is None else value for value in values)
        return Quartiles(*(_quantile(ordered, share) for share in (0.5, 0.25, 0.75)))

    def text(self, form: str, unit: float = 1, beyond: str = "") -> tuple[str, str]:
        """Median and quartiles as text; `beyond` stands for a quartile beyond all that was measured."""
        median, low, high = (
            None if value is None else form.format(value / unit) for value in (self.median, self.low, self.high)
        )
        return median or NOT_REACHED, f"{low or beyond} to {high or beyond}"


def seeds_json(values: Sequence[float | None]) -> Json:
    """The value of every seed, with the median and the quartiles if there are any."""
    if not values:
        return {"seeds": values}
    quartiles = Quartiles.of(values)
    return {"seeds": values, "median": quartiles.median, "quartiles": [quartiles.low, quartiles.high]}


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """Interpolates between the two nearest values, if both are finite."""
    place = share * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    if math.isinf(above):
        return None
    return below + (above - below) * (place - math.floor(place))
