"""Names that are given on the command line, and names of things for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.tasks import Task


def split_names(words: Sequence[str]) -> tuple[str, ...]:
    """Names with spaces or commas between them: `a b`, `a,b` and `a, b` are the same."""
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def reward_name(task: "Task") -> str:
    """What a task's return is made of, for people."""
    return "Gym's own reward" if task.gym_id else "the task's reward"
