"""Samples until 3/4 of the expert, ours beside the paper's."""

from dataclasses import dataclass

from isthmus.experiments.paper.paper import paper_samples
from isthmus.experiments.paper.tally import Quartiles, Tally
from isthmus.gaps import Gap


@dataclass(frozen=True)
class Count:
    """What figure 4 says of a case."""

    noise: tuple[float, float]
    """Standard deviation and correlation."""
    paper: int | None
    """In samples; None where the paper prints N/A."""
    samples: tuple[int | None, ...]
    """Of each seed; None where 3/4 was not reached."""
    quartiles: Quartiles | None
    """Of our samples; None without any seed."""

    @staticmethod
    def of(tally: Tally) -> "Count":
        """Count the samples of a case."""
        case = tally.case
        dials = dict(Gap.parse(case.gap).settings)
        noise = dials.get("motor-noise", 0.0), dials.get("noise-correlation", 0.0)
        thousands = paper_samples(case.robot, case.arm, noise)
        samples = tuple(one.samples_to_share for one in tally.outcomes)
        return Count(
            noise=noise,
            paper=None if thousands is None else 1000 * thousands,
            samples=samples,
            quartiles=Quartiles.of(samples) if samples else None,
        )

    @property
    def median(self) -> float | None:
        """Our samples."""
        return self.quartiles.median if self.quartiles else None

    @property
    def ratio(self) -> float | None:
        """Our samples in units of the paper's, where both are there."""
        return None if self.median is None or self.paper is None else self.median / self.paper

    @property
    def not_reached(self) -> int:
        """Seeds that never held 3/4."""
        return self.samples.count(None)
