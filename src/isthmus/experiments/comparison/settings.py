"""Every choice behind a comparison. This is the file to tune; nothing else holds a number of theirs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EPISODES, FEW_EPISODES = 50, 8
"""Episodes behind a score, and behind that of a slow method where episodes are long."""
LONG = 200
"""Steps from which an episode is long."""
ORACLE_EPISODES = 50
ROUND_SAMPLES, ROUNDS = 250, 5
"""A method learns anew after this many samples, or after its share of the budget when that is more."""
HISTORIES: Mapping[str, tuple[int, ...]] = {"inverse": (1, 2), "residual-action": (2,)}
"""Numbers of observations that a method is compared with, a row each; one for methods that are not named."""


@dataclass(frozen=True)
class SuiteRobot:
    """What the suite has of a robot."""

    gaps: tuple[str, ...]
    oracle_episodes: int = ORACLE_EPISODES
    episodes: Mapping[str, int] = field(default_factory=dict[str, int])
    """By method, where not as everywhere."""


SUITE_METHODS = "inverse,residual-action,auto,model-inverse,pd,output-error,gaussian,fine-tune,robust,rl-on-target"
"""In the suite: all but other forms of these."""
DEAR: Mapping[str, int] = {"residual-action": 16, "auto": 16, "model-inverse": 16}
"""Episodes behind a score where a simulated step is dear."""
BUDGETS = (1_000, 3_000, 10_000)
SUITE_STOPS, SUITE_ROUNDS = (500, *BUDGETS), 10
"""Where methods learn anew: at those budgets and once before, or so often if they are paid."""
SUITE: Mapping[str, SuiteRobot] = {
    "reacher": SuiteRobot(("none", "tilt=45", "tilt=90", "armature=2", "torque-scale=0.6", "backlash=0.2", "delay=2")),
    "hopper": SuiteRobot(
        (
            "none",
            "gravity=0.8",
            "gravity=1.2",
            "mass=1.2",
            "contact-friction=0.7",
            "torque-scale=0.9",
            "motor-noise=0.5,noise-correlation=1",
        )
    ),
    "half-cheetah": SuiteRobot(("gravity=1.2", "mass=1.3", "torque-scale=0.7"), oracle_episodes=16),
    "humanoid": SuiteRobot(("gravity=1.1", "mass=1.1", "torque-scale=0.8"), oracle_episodes=8, episodes=DEAR),
}
ORACLES_ON_PAGE = (("hopper", "gravity=1.2"), ("humanoid", "gravity=1.1"))
"""Where the page of the suite sets what methods reach beside the oracles."""
SUITE_SEEDS = 3
