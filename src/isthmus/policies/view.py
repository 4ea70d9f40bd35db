"""What a policy is shown of an observation."""

from collections.abc import Callable
from dataclasses import dataclass

from isthmus.core import Float


def whole(observations: Float) -> Float:
    """All of it."""
    return observations


@dataclass(frozen=True)
class View:
    """The layout of one version of Gymnasium's environment."""

    name: str
    size: int
    see: Callable[[Float], Float] = whole
    """From observations (n, obs) to what the policy sees (n, size)."""
