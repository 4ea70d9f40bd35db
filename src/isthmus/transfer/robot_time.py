"""What fits into so many minutes with a robot: every step counts, and so does every move back to the start."""

from dataclasses import dataclass

from isthmus.core import Problem, WorldSpec

MOVE = 1.3
"""Seconds of a move to the start, about."""
FEWEST = 0.5
"""Minutes that a run takes at least."""


@dataclass(frozen=True)
class RobotTime:
    """How the time is spent."""

    samples: int
    """Steps to learn from."""
    rounds: int
    trials: int
    """Episodes behind every score."""


def within(minutes: float, spec: WorldSpec) -> RobotTime:
    """A plan for `minutes`: scores before, after every round, and two runs to be shown; the rest is for collecting."""
    if not FEWEST <= minutes <= 1e4:
        raise Problem(f"minutes must be between {FEWEST:g} and 10000, got {minutes:g}")
    episode = spec.horizon * spec.control_period + MOVE
    episodes = int(minutes * 60 / episode)
    rounds, trials = (4, 3) if episodes >= 40 else (1, 1)
    left = max(episodes - trials * (1 + rounds) - 2, 1)
    return RobotTime(left * spec.horizon, rounds, trials)
