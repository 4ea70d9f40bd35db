"""Collect target data as the paper does: run the current policy, interrupt it now and then, stop when it is lost."""

from isthmus.transfer.collection.collect import collect
from isthmus.transfer.collection.reference_rollout import ReferenceRollout, observation_scale

__all__ = ["ReferenceRollout", "collect", "observation_scale"]
