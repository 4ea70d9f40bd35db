"""What the paper prints: figure 4 of Christiano et al. 2016 (arXiv:1610.03518).

Figure 3 of the paper is plots only: no number of it is known, and none is given here.
"""

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
    return SAMPLES[robot, arm][NOISES.index(noise)]
