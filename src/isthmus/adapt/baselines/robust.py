"""A policy that was trained under randomised dynamics: it is to cope with any target, and sees nothing of this one."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import FitReport, Source
from isthmus.core import Episode, Problem


class RobustMethod:
    """Learns nothing."""

    history = 1
    needs_target_data = False

    def __init__(self, source: Source) -> None:
        """Take the robust policy that comes with the task."""
        if source.robust is None:
            raise Problem("no robust policy comes with this task")
        self._policy = FinetunedPolicy(source.policy, source.simulator, source.robust())

    def policy(self) -> FinetunedPolicy:
        """The robust policy's action."""
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
