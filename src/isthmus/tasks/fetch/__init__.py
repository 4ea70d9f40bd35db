"""The Fetch arm and its swings."""

from isthmus.tasks.fetch.arm import HOME, JOINTS, SPEED_LIMITS, arm_spec
from isthmus.tasks.fetch.task import make_fetch_swing

__all__ = ["HOME", "JOINTS", "SPEED_LIMITS", "arm_spec", "make_fetch_swing"]
