"""The expert as it is: what there is to beat."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.adapt.method import FitReport, Source
from isthmus.core import Episode
from isthmus.policies import Unadapted


class UnadaptedMethod:
    """Learns nothing."""

    history = 1
    needs_target_data = False

    def __init__(self, source: Source) -> None:
        """Take the source's policy."""
        self._policy = Unadapted(source.policy, source.simulator)

    def policy(self) -> Unadapted:
        """The source's action."""
        return self._policy

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Nothing to learn."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Nothing to save."""

    def restore(self, path: Path) -> None:
        """Nothing to restore."""
