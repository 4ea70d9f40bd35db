"""Every choice behind figures 3 and 4. This is the file to tune; nothing else holds a number of theirs."""

from dataclasses import dataclass, field

from isthmus.adapt import MethodSettings

SEEDS, QUICK_SEEDS = 10, 2
SHARE = 0.75
"""The share of the expert's score that figure 4 counts samples to."""


@dataclass(frozen=True)
class Choice:
    """How a gap is crossed."""

    method: str
    samples: int
    """The budget: steps on the target."""
    round_samples: int = 250
    evaluation_episodes: int = 50
    settings: MethodSettings = field(default_factory=MethodSettings)
    """Collection and fit; the history is the arm's."""


@dataclass(frozen=True)
class Arm:
    """One way across that is compared."""

    name: str
    history: int
    """Observations that the inverse model looks at."""
    printed: str
    """The arm of the paper's own figure 4 that it stands beside."""
    method: str = ""
    """The method, where it is not that of the robot's choice."""


OURS = Arm("no history", 1, "no history"), Arm("history", 2, "history")
PAPERS = (
    Arm("paper's network, no history", 1, "no history", "inverse"),
    Arm("paper's network, history", 2, "history", "inverse"),
)
CORRECTION = (Arm("paper's correction, history", 2, "history", "correction"),)
ARM_GROUPS: dict[str, tuple[Arm, ...]] = {"ours": OURS, "paper": PAPERS, "correction": CORRECTION}
"""Ours; the paper's network, which gives the action; and its other form, which gives what to add to the source's."""
ARMS: dict[str, Arm] = {arm.name: arm for arms in ARM_GROUPS.values() for arm in arms}
PAPER_BUDGETS: dict[str, tuple[int, int]] = {
    "reacher": (2_000, 1_000),
    "hopper": (20_000, 2_000),
    "half-cheetah": (10_000, 2_500),
    "humanoid": (20_000, 4_000),
}
"""Samples of the paper's network, and those of its rounds: it learns the target's whole dynamics, and needs more."""

QUICK_ROUNDS, QUICK_EPISODES = 3, 50
"""A quick look: this many rounds instead of the budget, and evaluation episodes."""


@dataclass(frozen=True)
class Dial:
    """One panel of figure 3: a gap in several sizes."""

    sizes: tuple[float, ...]
    quick: tuple[float, ...]
    choice: Choice


# Figure 3: the score against the size of the gap. Where a dial is at its neutral value there is no gap; that case is
# crossed by the choice of the robot's first dial.
GRAVITY = (0.8, 0.9, 1.0, 1.1, 1.2), (0.8, 1.0, 1.2)
NOISE = (0.0, 0.05, 0.1, 0.2), (0.0, 0.2)
FIGURE_3: dict[str, dict[str, Dial]] = {
    "reacher": {
        "tilt": Dial((0, 15, 30, 45, 60, 75, 90), (0, 45, 90), Choice("residual-action", 1_000, 500)),
        "motor-noise": Dial(*NOISE, Choice("residual-action", 1_000, 500)),
    },
    "hopper": {
        "gravity": Dial(*GRAVITY, Choice("residual-action", 2_000, 1_000)),
        "motor-noise": Dial(*NOISE, Choice("residual-action", 2_000, 1_000)),
    },
    "half-cheetah": {
        "gravity": Dial(*GRAVITY, Choice("residual-action", 2_000, 1_000)),
        "motor-noise": Dial(*NOISE, Choice("residual-action", 2_000, 1_000)),
    },
    "humanoid": {
        "gravity": Dial(*GRAVITY, Choice("residual-action", 4_000, 2_000)),
        "motor-noise": Dial(*NOISE, Choice("residual-action", 4_000, 2_000)),
    },
}

# Figure 4: samples until 3/4 of the expert, at the paper's motor noises: standard deviation and correlation.
QUICK_NOISES = ((0.0, 0.0), (0.2, 0.9), (1.0, 1.0))
FIGURE_4: dict[str, dict[float, Choice]] = {
    "hopper": dict.fromkeys((0.0, 0.2, 1.0), Choice("residual-action", 4_000, 250)),
    "humanoid": dict.fromkeys((0.0, 0.2, 1.0), Choice("residual-action", 8_000, 1_000)),
}
