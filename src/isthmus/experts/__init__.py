"""Experts: the simulation policies that ship with the tasks, and how they are trained."""

from isthmus.experts.shipped import (
    conditioned_path,
    expert_path,
    load_conditioned,
    load_expert,
    load_robust,
    provenance,
    recorded_return,
    robust_path,
    shipped_policy,
)

__all__ = [
    "conditioned_path",
    "expert_path",
    "load_conditioned",
    "load_expert",
    "load_robust",
    "provenance",
    "recorded_return",
    "robust_path",
    "shipped_policy",
]
