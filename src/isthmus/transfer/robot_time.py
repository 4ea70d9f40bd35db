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


def within(minutes: float, spec: WorldSpec, trials: int | None = None, *, every_round: bool = True) -> RobotTime:
    """A plan for `minutes`: scores before and after, or after every round, and two runs to be shown; then collecting.

    A score takes so many `trials`, or as many as suit the time.
    """
    if not FEWEST <= minutes <= 1e4:
        raise Problem(f"minutes must be between {FEWEST:g} and 10000, got {minutes:g}")
    episode = spec.horizon * spec.control_period + MOVE
    episodes = int(minutes * 60 / episode)
    rounds, usual = (4, 3) if episodes >= 40 else (1, 1)
    trials = trials or usual
    left = max(episodes - trials * (1 + (rounds if every_round else 1)) - 2, 1)
    return RobotTime(left * spec.horizon, rounds, trials)
