"""Robots and what they are there to do."""

from isthmus.tasks.registry import TASKS, TaskKind, is_code, load_task
from isthmus.tasks.task import Task

__all__ = ["TASKS", "Task", "TaskKind", "is_code", "load_task"]
