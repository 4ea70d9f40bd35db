"""The results of one entry over its seeds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.core.statistics import PairedGain
from isthmus.experiments.by_seed import BySeed
from isthmus.experiments.comparison.case import UNADAPTED, Case, Entry
from isthmus.experiments.grid import Json

NOISE = 0.01
"""Differences below this say nothing either way."""
SURE = 2.0
"""Standard errors that a difference has to be worth."""


@dataclass(frozen=True)
class Row(BySeed):
    """One row of a comparison."""

    entry: Entry
    episodes: int
    """Episodes behind the score of a seed."""
    problem: str | None
    """Why the method cannot be used on this task, if so."""
    control_period: float
    """Microseconds between two control steps."""

    @staticmethod
    def of(case: Case, entry: Entry, found: Mapping[int, Json], seeds: int) -> "Row":
        """Collect the seeds of an entry."""
        problems = [str(one["problem"]) for one in found.values() if "problem" in one]
        return Row(
            found={seed: one for seed, one in sorted(found.items()) if "problem" not in one},
            missing=tuple(seed for seed in range(seeds) if seed not in found),
            entry=entry,
            episodes=case.episodes_of(entry),
            problem=problems[0] if problems else None,
            control_period=case.control_period,
        )

    @property
    def label(self) -> str:
        """Names it."""
        return self.entry.label

    @property
    def is_unadapted(self) -> bool:
        """Whether this is the expert as it is."""
        return self.entry.method == UNADAPTED

    @property
    def scores(self) -> list[float]:
        """The normalised score of each seed."""
        return self.values("normalised")

    @property
    def mean(self) -> float:
        """The score over seeds; there has to be one."""
        return float(np.mean(self.scores))

    @property
    def std(self) -> float | None:
        """Standard deviation over seeds, where there are several."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else None

    @property
    def error(self) -> float:
        """Standard error of the score: by the seeds, or by the episodes where there is one seed."""
        if self.std is None:
            return float(np.mean(self.values("episode_error")))
        return self.std / math.sqrt(len(self.scores))

    @property
    def samples(self) -> int:
        """Steps taken on the target."""
        return max((int(one) for one in self.values("samples")), default=0)

    @property
    def samples_needed(self) -> int:
        """Samples from which the score stayed within the noise of what it came to, the mean over seeds."""
        curves = [[(int(samples), float(score)) for samples, score in one] for one in self.values("curve")]
        points = list(zip(*curves, strict=False))[1:]  # the first is the expert as it is
        least = self.mean - max(NOISE, SURE * self.error)
        held = self.samples
        for point in reversed(points):
            if float(np.mean([score for _, score in point])) < least:
                break
            held = max(samples for samples, _ in point)
        return held

    def median(self, name: str) -> float | None:
        """A figure's median over the seeds that recorded it."""
        known = [one[name] for one in self.found.values() if one.get(name) is not None]
        return float(np.median(known)) if known else None

    @property
    def step_microseconds(self) -> float | None:
        """What a control step of one robot takes, the median over seeds."""
        return self.median("step_microseconds")

    @property
    def keeps_up(self) -> bool:
        """Whether its control step is done in time, as far as is known."""
        return self.step_microseconds is None or self.step_microseconds <= self.control_period

    def beats(self, other: "Row") -> bool:
        """Whether it is better than another beyond the noise.

        Episodes of a seed start from the same states for all, so where several seeds are shared it is judged by the
        differences in each.
        """
        shared = [seed for seed in self.found if seed in other.found]
        if len(shared) < 2:
            return self.mean - other.mean > max(NOISE, SURE * math.hypot(self.error, other.error))
        ours, theirs = (np.array([row.found[seed]["normalised"] for seed in shared]) for row in (self, other))
        gain = PairedGain.of(ours, theirs)
        return gain.mean > NOISE and gain.exceeds(by=SURE)

    def to_json(self) -> Json:
        """As plain data."""
        scored = bool(self.scores)
        return {
            "method": self.label,
            "name": self.entry.method,
            "history": self.entry.history,
            "normalised": self.mean if scored else None,
            "spread": self.std if scored else None,
            "standard_error": self.error if scored else None,
            "samples": self.samples if scored else None,
            "enough_samples": self.samples_needed if scored else None,
            "sees": self.entry.kind.sees,
            "sees_target_reward": self.entry.kind.sees_reward,
            "fit_seconds": self.median("fit_seconds"),
            "step_microseconds": self.step_microseconds,
            "step_p99_microseconds": self.median("step_p99_microseconds"),
            "keeps_up": self.keeps_up,
            "evaluation_episodes": self.episodes,
            "seeds": {str(seed): one["normalised"] for seed, one in self.found.items()},
            "missing": list(self.missing),
            "curves": {str(seed): one["curve"] for seed, one in self.found.items()},
            "problem": self.problem,
        }
