"""Where a fit that takes long keeps what it has come to, so that it goes on there after a kill."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from isthmus.adapt.common.method_state import MethodState


def _nothing(_kind: str) -> None:
    return None


def _forget(_state: MethodState) -> None:
    return None


@dataclass(frozen=True)
class Checkpoint:
    """One file, whoever owns it; by default nothing is kept."""

    load: Callable[[str], MethodState | None] = _nothing
    """The state of that kind that was saved last; None where there is none."""
    save: Callable[[MethodState], None] = _forget
    """Keep a state in place of the one before."""


@runtime_checkable
class Checkpointed(Protocol):
    """A method whose fits take long."""

    def keep_in(self, checkpoint: Checkpoint) -> None:
        """Keep what the next fit comes to there, and go on from what is there."""
        ...
