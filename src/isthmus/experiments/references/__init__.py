"""Sources without actions: how far recorded observations alone get, beside a policy with its actions."""

from isthmus.experiments.references.study import CASES, References, study_references

__all__ = ["CASES", "References", "study_references"]
