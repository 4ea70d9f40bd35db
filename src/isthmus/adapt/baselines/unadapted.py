"""The expert as it is: what there is to beat."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.adapt.method import Learned, Source
from isthmus.core import Episode
from isthmus.policies import Unadapted


class UnadaptedMethod:
    """Learns nothing."""

    history = 1
    samples_wanted = False

    def __init__(self, source: Source) -> None:
        """Take the source's policy."""
        self._decider = Unadapted(source.policy, source.simulator)

    def decider(self) -> Unadapted:
        """The source's action."""
        return self._decider

    def learn(self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]) -> Learned:
        """Nothing to learn."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Nothing to save."""

    def restore(self, path: Path) -> None:
        """Nothing to restore."""
