"""Robots and what they are there to do."""

from isthmus.tasks.registry import TASKS, TaskKind, load_task
from isthmus.tasks.task import Task

__all__ = ["TASKS", "Task", "TaskKind", "load_task"]
