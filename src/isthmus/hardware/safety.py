"""How cautious Isthmus is with a real target. Always on; only the user loosens it."""

from dataclasses import dataclass

from isthmus.core import check_settings


@dataclass(frozen=True)
class SafetySettings:
    """How far commands may go, and how long faults are tolerated. The limits themselves come from the robot."""

    step: float = 0.8
    """Largest change of a position command from one step to the next, in steps at the joint's speed limit.

    Below 1, because a drive overshoots, and because commands that are on their way for unequal times come closer
    together than they were sent.
    """
    lead: float = 4.0
    """Largest distance of a position command from where the joint is, in steps at its speed limit."""
    pull: float = 1.35
    """Distance of a position command from where the joint is, in steps at its speed limit, beyond which it moves no
    further away.

    The further ahead a command is, the faster a drive makes the joint. At a steady speed it is ahead by a step and by
    what the drive lags: a robot whose drives lag by more than half a step is slowed down, unless this is larger.
    """
    stale: float = 0.06
    """Seconds that an observation may be old before the robot is held."""
    overrun: float = 0.25
    """Seconds that a command may be late before the robot is held."""
    patience: float = 2.0
    """Seconds that a silent robot is waited for before it is given up."""
    blocked: float = 60.0
    """Seconds that an environment's reset may take before it is given up, and a step of one that cannot be held."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings((f"safety.{name}", value, bool(0 < value < 1e3)) for name, value in vars(self).items())
