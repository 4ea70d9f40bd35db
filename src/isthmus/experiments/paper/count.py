"""Samples until 3/4 of the expert's score is held, ours beside the paper's.

What the paper prints: figure 4 of Christiano et al. 2016 (arXiv:1610.03518).

Figure 3 of the paper is plots only: no number of it is known, and none is given here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from isthmus.experiments.by_seed import Quartiles
from isthmus.experiments.paper.cells import Tally
from isthmus.experiments.paper.settings import ARMS, SHARE
from isthmus.gaps import Gap

SAMPLES: dict[tuple[str, str], tuple[int | None, ...]] = {
    ("hopper", "no history"): (31, 58, 48, 77, 150, 157, 137),
    ("hopper", "history"): (24, 31, 29, 28, 70, 121, 47),
    ("humanoid", "no history"): (13, 15, 20, 16, None, None, 155),
    ("humanoid", "history"): (16, 17, 19, 16, None, None, 54),
}
"""Thousands of target samples until 3/4 of the expert, by the noises of `NOISES`; None is printed as N/A."""
NOISES = ((0.0, 0.0), (0.2, 0.0), (0.2, 0.9), (0.2, 1.0), (1.0, 0.0), (1.0, 0.9), (1.0, 1.0))
"""Standard deviation and correlation of the motor noise, in the order of the paper's columns."""
FROM_SCRATCH = {"hopper": 1_000, "humanoid": 70_000}
"""Thousands of samples that reinforcement learning took to the same score ("about")."""


def paper_samples(robot: str, arm: str, noise: tuple[float, float]) -> int | None:
    """The paper's number in thousands; None is its N/A."""
    return SAMPLES[robot, ARMS[arm].printed][NOISES.index(noise)]


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
