"""Robots and what they are there to do."""

from isthmus.tasks.task import Task

__all__ = [
    "Task",
]
