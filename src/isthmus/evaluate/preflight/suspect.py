"""A mistake that a policy's author may have made, undone."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suspect:
    """One mistake, and the return once it is undone."""

    culprit: str
    """What would have been wrong."""
    remedy: str
    gym_return: float
    exact: bool = True
    """Whether undoing the mistake gives back the policy as it was made, or only something near it."""
