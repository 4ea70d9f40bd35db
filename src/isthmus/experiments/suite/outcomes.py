"""What came of crossings: the share of the loss that is recovered, harm, and predictions beside what was achieved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus.experiments.by_seed import MISSING
from isthmus.experiments.comparison.case import Case, Entry
from isthmus.experiments.grid import Json
from isthmus.experiments.suite.families import family
from isthmus.experiments.suite.settings import HARM, HEADLINE_BUDGET, LEAST_LOSS


@dataclass(frozen=True)
class Crossing:
    """A calibrated gap, to be crossed."""

    family: str
    share: float
    """The rung."""
    case: Case


@dataclass(frozen=True)
class Outcome:
    """One method across one gap, from one seed."""

    task: str
    family: str
    rung: float
    counts: bool
    """Whether its family is in the headline."""
    gap: str
    method: str
    seed: int
    unadapted: float
    """The share of its score that the gap left the unadapted policy, on the episodes of this run."""
    scores: Mapping[int, float]
    """The share that the adapted one has, by samples."""
    predicted: float | None
    """What was predicted in rehearsal for what was taken in the end."""
    versions: Mapping[str, str]

    @staticmethod
    def of(crossing: Crossing, entry: Entry, seed: int, found: Json) -> "Outcome":
        """From a stored cell."""
        (_, unadapted), *later = [(int(samples), float(score)) for samples, score in found["curve"]]
        return Outcome(
            task=crossing.case.task,
            family=crossing.family,
            rung=crossing.share,
            counts=family(crossing.family).counts,
            gap=crossing.case.gap,
            method=entry.label,
            seed=seed,
            unadapted=unadapted,
            scores=dict(later) if later else {0: float(found["normalised"])},
            predicted=found.get("predicted"),
            versions=found["versions"],
        )

    def score(self, budget: int) -> float | None:
        """The score with so many samples; None before the first fit."""
        within = [samples for samples in self.scores if samples <= budget]
        return self.scores[max(within)] if within else None

    def recovered(self, budget: int) -> float | None:
        """The share of the loss that is made up for; None where there is hardly any loss."""
        score = self.score(budget)
        if score is None or 1 - self.unadapted < LEAST_LOSS:
            return None
        return (score - self.unadapted) / (1 - self.unadapted)

    @property
    def final(self) -> float:
        """The score in the end."""
        return self.scores[max(self.scores)]

    def to_json(self) -> Json:
        """As plain data."""
        plain = dict(vars(self)) | {"scores": {str(samples): score for samples, score in self.scores.items()}}
        return plain | {"versions": dict(self.versions)}


@dataclass(frozen=True)
class Recovered:
    """Shares of the loss that are recovered over some runs: their quartiles."""

    runs: int
    low: float | None
    median: float | None
    high: float | None

    @staticmethod
    def of(outcomes: Sequence[Outcome], budget: int) -> "Recovered":
        """Over the runs that have a share with so many samples."""
        shares = [share for one in outcomes if (share := one.recovered(budget)) is not None]
        if not shares:
            return Recovered(0, None, None, None)
        low, median, high = (float(value) for value in np.quantile(shares, (0.25, 0.5, 0.75)))
        return Recovered(len(shares), low, median, high)

    @property
    def text(self) -> str:
        """Median and quartiles."""
        if self.median is None:
            return MISSING
        return f"{self.median:z.2f}" if self.runs == 1 else f"{self.median:z.2f} ({self.low:z.2f} to {self.high:z.2f})"


@dataclass(frozen=True)
class Outcomes:
    """Everything that is there."""

    every: tuple[Outcome, ...]
    budgets: tuple[int, ...]
    missing: int
    """Runs that are wanted and not there yet."""

    @cached_property
    def methods(self) -> list[str]:
        """In the order in which they are first met."""
        return list(dict.fromkeys(one.method for one in self.every))

    @cached_property
    def tasks(self) -> list[str]:
        """The robots."""
        return list(dict.fromkeys(one.task for one in self.every))

    @cached_property
    def families(self) -> list[str]:
        """The families."""
        return list(dict.fromkeys(one.family for one in self.every))

    @property
    def budget(self) -> int:
        """The one of the headline: the largest that is no larger than wanted."""
        return max((one for one in self.budgets if one <= HEADLINE_BUDGET), default=self.budgets[0])

    def of(
        self, method: str, *, task: str | None = None, family: str | None = None, headline: bool = False
    ) -> list[Outcome]:
        """Those of a method; of one robot or family, and of the headline alone, if that is wanted."""
        return [
            one
            for one in self.every
            if one.method == method
            and task in (None, one.task)
            and family in (None, one.family)
            and (one.counts or not headline)
        ]

    def harmed(self, method: str) -> float | None:
        """The share of the runs that end below the unadapted policy by more than `HARM`: at any budget, any family."""
        pairs = [(one.unadapted, score) for one in self.of(method) for score in one.scores.values()]
        return float(np.mean([score < unadapted - HARM for unadapted, score in pairs])) if pairs else None

    def predictions(self) -> list[tuple[float, float]]:
        """Predicted and achieved, of runs that end with a prediction."""
        return [(one.predicted, one.final) for one in self.every if one.predicted is not None]

    def within(self, distance: float) -> float | None:
        """The share of predictions that are so near to what was achieved."""
        pairs = self.predictions()
        return float(np.mean([abs(predicted - found) <= distance for predicted, found in pairs])) if pairs else None
