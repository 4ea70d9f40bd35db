"""A policy that was trained under randomised dynamics: it is to cope with any target, and sees nothing of this one."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.adapt.finetune.policy import Retrained
from isthmus.adapt.method import Learned, Source
from isthmus.core import Episode, Problem


class RobustMethod:
    """Learns nothing."""

    history = 1
    samples_wanted = False

    def __init__(self, source: Source) -> None:
        """Take the robust policy that comes with the task."""
        if source.robust is None:
            raise Problem("no robust policy comes with this task")
        self._decider = Retrained(source.policy, source.simulator, source.robust())

    def decider(self) -> Retrained:
        """The robust policy's action."""
        return self._decider

    def learn(self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]) -> Learned:
        """Nothing to learn."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Nothing to save."""

    def restore(self, path: Path) -> None:
        """Nothing to restore."""
