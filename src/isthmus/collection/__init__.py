"""Collect target data as the paper does: run the current policy, interrupt it now and then, stop when it is lost."""

from isthmus.collection.collect import CollectSettings, collect
from isthmus.collection.course import Course, observation_scale

__all__ = ["CollectSettings", "Course", "collect", "observation_scale"]
