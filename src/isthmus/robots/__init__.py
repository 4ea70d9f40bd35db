"""The robots there are, and the tasks they come with, by name."""

from isthmus.robots.registry import TASKS, TaskKind, load_task

__all__ = ["TASKS", "TaskKind", "load_task"]
