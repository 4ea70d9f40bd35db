"""Samples until 3/4 of the expert's score is held, ours beside the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from isthmus.experiments.by_seed import Quartiles
from isthmus.experiments.paper.cells import Tally
from isthmus.experiments.paper.paper import paper_samples
from isthmus.experiments.paper.settings import SHARE
from isthmus.gaps import Gap


@dataclass(frozen=True)
class Count:
    """The samples of one case of figure 4."""

    noise: tuple[float, float]
    """Standard deviation and correlation."""
    paper: int | None
    """The paper's number of samples; None where it prints N/A."""
    samples: tuple[int | None, ...]
    """Our number of samples for each seed; None where 3/4 was not reached."""

    @staticmethod
    def of(tally: Tally) -> "Count":
        """Count the samples of a case."""
        dials = dict(Gap.parse(tally.case.gap).settings)
        noise = dials.get("motor-noise", 0.0), dials.get("noise-correlation", 0.0)
        thousands = paper_samples(tally.case.robot, tally.case.arm, noise)
        samples = tuple(samples_until(SHARE, curve) for curve in tally.values("curve"))
        return Count(noise, None if thousands is None else 1000 * thousands, samples)

    @property
    def median(self) -> float | None:
        """The median of our samples; None if it was not reached."""
        return Quartiles.of(self.samples).median if self.samples else None

    @property
    def ratio(self) -> float | None:
        """Our median divided by the paper's number, if both are known."""
        return None if self.median is None or self.paper is None else self.median / self.paper

    @property
    def not_reached(self) -> int:
        """Seeds that never held 3/4."""
        return self.samples.count(None)


def samples_until(share: float, curve: Sequence[tuple[int, float]]) -> int | None:
    """Samples at the first of the first two evaluations in a row with a score of at least `share`.

    The score without any sample is that of the unadapted policy, and does not count.
    """
    adapted = [point for point in curve if point[0] > 0]
    for (samples, score), (_, after) in pairwise(adapted):
        if min(score, after) >= share:
            return samples
    return None
