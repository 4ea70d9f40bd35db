"""A training as it is now."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isthmus.policies import NetworkPolicy
from isthmus.policies.conditioned import ConditionedPolicy

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Snapshot:
    """What is there to look at and to save."""

    steps: int
    recent: float
    """Mean return of the last episodes, exploration included."""
    policy: Callable[[], NetworkPolicy | ConditionedPolicy]
    arrays: Callable[[], Arrays]
    """All that is needed to go on."""


Report = Callable[[Snapshot], None]
