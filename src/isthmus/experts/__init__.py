"""Experts: the simulation policies that ship with the tasks, and how they are trained."""

from isthmus.experts.shipped import expert_path, load_expert, load_robust, provenance, recorded_return, robust_path

__all__ = ["expert_path", "load_expert", "load_robust", "provenance", "recorded_return", "robust_path"]
