"""Every choice of figure 5."""

from dataclasses import dataclass

PAPER = {"inverse": (0.0372, 0.0002), "pd": (0.0449, 0.0005)}
"""Mean normalised distance and its standard deviation, as printed, on the paper's own robot."""
TASK = "fetch-swing"
LIMITS = ("position", "step", "lead")
"""The safety limits by which commands are counted."""
HISTORY = {"inverse": 2, "correction": 2, "residual-action": 2, "preview": 3}


@dataclass(frozen=True)
class Settings:
    """How much is done."""

    folder: str
    robots: tuple[str, ...]
    """Stand-ins. Everything was tuned on training swings of the first; the second is for a final evaluation."""
    methods: tuple[str, ...]
    samples: int
    """Steps that a method may learn from: with the moves to the start, well within ten minutes of robot time."""
    rounds: int
    trials: int
    """Test swings, one trial each."""
    stiffnesses: tuple[float, ...]
    dampings: tuple[float, ...]
    """Gains that are tried for PD."""
    tuned_on: tuple[int, ...]
    """Training swings on which they are."""


FULL = Settings(
    folder="figure-5",
    robots=("first", "second"),
    methods=("pd", "unadapted", "preview", "residual-action", "inverse", "correction"),
    samples=3600,
    rounds=3,
    trials=10,
    stiffnesses=(0.0, 0.3, 0.6, 0.9, 1.2, 1.5),
    dampings=(0.0, 0.03, 0.06, 0.09),
    tuned_on=(0, 6, 9),
)
QUICK = Settings(
    folder="figure-5-quick",
    robots=("first",),
    methods=("pd", "unadapted", "preview"),
    samples=900,
    rounds=1,
    trials=5,
    stiffnesses=(0.3, 0.6, 0.9, 1.2),
    dampings=(0.0, 0.05),
    tuned_on=(0, 9),
)
