"""The Fetch arm and its swings."""

from isthmus.robots.fetch.arm import HOME, JOINTS, SPEED_LIMITS, arm_spec
from isthmus.robots.fetch.task import make_fetch_swing

__all__ = ["HOME", "JOINTS", "SPEED_LIMITS", "arm_spec", "make_fetch_swing"]
