"""Studies: many runs, put side by side."""

from isthmus.experiments.seeds import SeedStudy, study_seeds

__all__ = ["SeedStudy", "study_seeds"]
